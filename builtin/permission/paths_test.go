package permission_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
)

func TestPathsFollowTheRulesOfTheSystem(t *testing.T) {
	for _, c := range []struct {
		system, root, glob, path string
		deny, allow              bool
	}{
		{"linux", "/srv", "/etc/**", `/a\b/../etc/passwd`, true, true},
		{"linux", "/srv", "/etc/**", `\etc\passwd`, false, false},
		{"linux", "/srv", "secret/**", `secret\x`, false, false},
		{"linux", "/srv", "secret/**", "SECRET/x", false, false},
		{"linux", `/a\b`, "x/*", "x/y", true, true},
		{"darwin", "/srv", "secret/**", "Secret/x", true, false},
		{"darwin", "/srv", "secret/**", "secret/x", true, true},
		{"windows", `C:\srv`, "secret/**", `secret\x`, true, true},
		{"windows", `C:\srv`, `secret\**`, "secret/x", true, true},
		{"windows", `C:\srv`, "secret/**", `a\..\SECRET\x`, true, false},
		{"windows", `C:\srv`, "C:/Windows/**", `\Windows\x`, true, true},
		{"windows", `C:\srv`, "secret/*", `secret\COM`, true, true},
		{"windows", `C:\srv`, "secret/*", `secret\com10.nul`, true, true},
		{"windows", `C:\srv`, "secret/*", "secret. /x. .", true, true},
		{"windows", `C:\srv`, "secret/*", "open/x", false, false},
	} {
		t.Run(c.system+" "+c.path, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"path": c.path})
			paths := permission.PathGlobUnder(c.root, "path", c.glob).On(c.system)
			if got := ruled(t, permission.Deny, paths, string(args)); (got == "deny") != c.deny {
				t.Errorf("a rule that denies: %q, want a match: %t", got, c.deny)
			}
			if got := ruled(t, permission.Allow, paths, string(args)); (got == "allow") != c.allow {
				t.Errorf("a rule that allows: %q, want a match: %t", got, c.allow)
			}
		})
	}
}

func TestAliasesOfWindowsAreDenied(t *testing.T) {
	for _, path := range []string{
		`SECRET~1\x`, `x.txt::$DATA`, `x:y`, `C:x`, `\\host\share\x`, `\\?\UNC\host\share\x`,
		`//?/UNC/localhost/C$/srv/secret/x`, `\\.\UNC\host\share\x`, `\\.\PhysicalDrive0`, `\\.\pipe\docker_engine`,
		`\\?\GLOBALROOT\Device\HarddiskVolume1\x`, `\\?\Volume{b75e2c83-0000-0000-0000-602f00000000}\x`, `\??\C:\srv\x`,
		`\\?\`, `\\?\C:`, `\\?\\x`, `\\?\\C:\x`, `\\?\srv\x`, `\\?\1:\x`, `1:\x`,
		`[:\x`, `{:\x`, `@:\x`, `\\?\C:\srv\open.\x`, `\\?\C:\srv\..\x`,
		`\\?\C:\srv\x`, `\\.\C:\srv\x`,
		`NUL`, `nul.txt`, `a\Con`, `C:\srv\aux .b\x`, `COM1`, `lpt9.`, `COM²`, `CONIN$`, `conout$`, `\\.\C:\srv\PRN`,
	} {
		t.Run(path, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"path": path})
			paths := permission.PathGlobUnder(`C:\srv`, "path", "**/other").On("windows")
			if got := ruled(t, permission.Deny, paths, string(args)); got != "deny" {
				t.Errorf("a rule that denies: %q", got)
			}
			paths = permission.PathGlobUnder(`C:\srv`, "path", "**").On("windows")
			if got := ruled(t, permission.Allow, paths, string(args)); got == "allow" {
				t.Error("a rule that allows matches")
			}
		})
	}
}

func TestPathsThatToolsExpandAreDenied(t *testing.T) {
	for path, want := range map[string]bool{
		"~": true, "~/x": true, "~root/x": true, "~root": true, "file:///etc/passwd": true, "FILE:/etc/passwd": true,
		"a~": false, "x/~/y": false, "~ about 5": false, "file.txt": false, "./~": false,
	} {
		t.Run(path, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"path": path})
			denied := ruled(t, permission.Deny, permission.PathGlobUnder("/srv", "path", "/other/**").On("linux"), string(args))
			allowed := ruled(t, permission.Allow, permission.PathGlobUnder("/srv", "path", "**").On("linux"), string(args))
			if (denied == "deny") != want || (allowed == "allow") == want {
				t.Errorf("a rule that denies: %q, and one that allows: %q", denied, allowed)
			}
		})
	}
}

func TestPathsAreFoundInEveryNamedArgument(t *testing.T) {
	for _, c := range []struct {
		names, args string
		deny, allow bool
	}{
		{"path,source,target", `{"source":"secret/a","path":"open/b"}`, true, false},
		{"path,source,target", `{"source":"secret/a","target":"secret/b"}`, true, true},
		{"path, paths", `{"PATHS":["open/a","secret/b"]}`, true, false},
		{"path*", `{"path_to":"secret/a"}`, true, true},
		{"*", `{"anything":"secret/a","n":7}`, true, true},
		{"*", `{"anything":"secret/a","text":"hello"}`, true, false},
		{"*", `{"a":[{"b":["x","secret/a"]}]}`, true, false},
		{"path", `{"edits":[{"path":"secret/a"},{"path":"open"}]}`, true, false},
		{"path", `{"path":"secret/b","edits":[{"path":"secret/a"}]}`, true, true},
		{"path", `{"edits":[{"path":"secret/a"}]}`, true, false},
		{"path", `{"path":"open","link":{"Path":"secret/a"}}`, true, false},
		{"path", `{"pa\u0074h":"secret/a"}`, true, true},
		{"path", `{"pathſ":"secret/a"}`, false, false},
		{"files", `{"fileſ":"secret/a"}`, true, true},
		{"path", `{"path":"secret/a","path":"open"}`, true, false},
		{"path", `{"path":"secret/a","Path":"open"}`, true, false},
		{"path", `{"a":{"path":"open","path":"secret/a"}}`, true, false},
		{"path", `{"path":{"raw":"x"}}`, true, false},
		{"path", `{"path":["open",["secret/a"]]}`, true, false},
		{"path", `{"path":"open\u0000secret"}`, true, false},
		{"path", `{"path":null,"b":"secret/a"}`, false, false},
	} {
		t.Run(c.names+" in "+c.args, func(t *testing.T) {
			paths := permission.PathGlobUnder("/srv", c.names, "secret/**")
			if got := ruled(t, permission.Deny, paths, c.args); (got == "deny") != c.deny {
				t.Errorf("a rule that denies: %q, want a match: %t", got, c.deny)
			}
			if got := ruled(t, permission.Allow, paths, c.args); (got == "allow") != c.allow {
				t.Errorf("a rule that allows: %q, want a match: %t", got, c.allow)
			}
		})
	}
}

func TestPathsThatCannotBeComparedMatchNothing(t *testing.T) {
	paths := permission.PathGlobUnder("/srv", "path", "**")
	for _, args := range []string{
		`[]`, `{"path":7}`, `{"path":"a","path":"b"}`, `{"path":"a\u0000b"}`, `{"path":["a\u0000b","a"]}`,
	} {
		t.Run(args, func(t *testing.T) {
			if got, err := paths.Match(asked("x", args)); got || err == nil {
				t.Errorf("Match: %t, %v", got, err)
			}
			if got, err := paths.MatchEvery(asked("x", args)); got || err == nil {
				t.Errorf("MatchEvery: %t, %v", got, err)
			}
		})
	}
}

func TestFollowedLinksLeadToTheirFiles(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"secret/deep", "open"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"open/link": "../secret", "open/deep": filepath.Join(root, "secret/deep"), "alias": "secret", "open/loop": "loop",
		"root": "/", "secret/out": "../open",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "open/plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	denies := permission.PathGlobUnder(root, "path", "secret/**").FollowLinks()
	allows := permission.PathGlobUnder(root, "path", "open/**", "new/*/file").FollowLinks()
	viaAlias := permission.PathGlobUnder(root, "path", "alias/**").FollowLinks()
	for _, c := range []struct {
		path        string
		deny, allow bool
	}{
		{"open/a", false, true},
		{"open/link/a", true, false},
		{"open/link", true, false},
		{"open/deep/../a", true, false}, // secret/a for the system
		{"alias/a", true, false},
		{"root" + root + "/secret/a", true, false},
		{"open/new/file", false, true},
		{"new/folder/file", false, true},
		{"open/plain/a", true, false}, // cannot be followed, because plain is a file
		{"open/link/new/file", true, false},
		{"open/loop/a", true, false}, // cannot be followed
		{"secret/out/a", true, false},
		{"open/../open/./a", false, true},
	} {
		t.Run(c.path, func(t *testing.T) {
			args, _ := json.Marshal(map[string]string{"path": c.path})
			if got := ruled(t, permission.Deny, denies, string(args)); (got == "deny") != c.deny {
				t.Errorf("a rule that denies: %q, want a match: %t", got, c.deny)
			}
			if got := ruled(t, permission.Allow, allows, string(args)); (got == "allow") != c.allow {
				t.Errorf("a rule that allows: %q, want a match: %t", got, c.allow)
			}
		})
	}
	if got := ruled(t, permission.Deny, viaAlias, `{"path":"secret/a"}`); got != "deny" {
		t.Errorf("a glob with a link: %q", got)
	}
	unfollowed := permission.PathGlobUnder(root, "path", "alias/**")
	if got := ruled(t, permission.Deny, unfollowed, `{"path":"secret/a"}`); got != "" {
		t.Errorf("a glob with a link that is not followed: %q", got)
	}
}

func TestAGoneWorkingDirectoryIsAnError(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Skip(err) // Windows keeps the working directory of a process
	}
	if err := permission.PathGlob("path", "**").Check(); err == nil ||
		!strings.Contains(err.Error(), "the working directory is unknown") {
		t.Errorf("the error is %v", err)
	}
}

func TestLinksOfAnotherSystemAreNotFollowed(t *testing.T) {
	other := "windows"
	if runtime.GOOS == other {
		other = "linux"
	}
	if err := permission.PathGlobUnder("/srv", "path", "**").On(other).FollowLinks().Check(); err == nil {
		t.Error("no error")
	}
}
