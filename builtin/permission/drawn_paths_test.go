package permission_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
)

// TestDrawnPathsLeadWhereRulesSay compares the decisions of rules with the file that the system opens. A path that an
// allowing rule matches must lead into open, and a path that leads into secret must match a denying rule.
func TestDrawnPathsLeadWhereRulesSay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the drawn paths are those of other systems")
	}
	tried, kept := 0, 0
	for name, links := range map[string]map[string]string{
		"without links": nil,
		"with links": {
			"open/in": "../secret", "open/up": "..", "open/here": ".", "link": "secret/deep", "secret/out": "../open",
			"open/deep/far": "../../secret/deep", "open/twice": "in",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"secret/a", "secret/deep/a", "open/a", "open/deep/a", "secrets/a", "a"} {
				if err := os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			denies := permission.PathGlobUnder(root, "path", "secret/**")
			allows := permission.PathGlobUnder(root, "path", "open/**")
			for link, target := range links {
				if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
					t.Fatal(err)
				}
				denies, allows = denies.FollowLinks(), allows.FollowLinks()
			}
			pieces := []string{
				"a", "secret", "open", "deep", "secrets", "..", ".", "", "..", "in", "up", "here", "link", "out", "far", "twice",
				root, root + "/open", "/", "//", "SECRET", "%2e%2e", `..\secret`, "open/../secret",
			}
			rand := rand.New(rand.NewPCG(1, 2))
			exist := 0
			for exist < 4000 {
				words := make([]string, 1+rand.IntN(7))
				for i := range words {
					words[i] = pieces[rand.IntN(len(pieces))]
				}
				path := strings.Join(words, "/")
				opened := path
				if !strings.HasPrefix(path, "/") {
					opened = root + "/" + path
				}
				file, err := filepath.EvalSymlinks(opened)
				if _, statErr := os.Stat(opened); err != nil || statErr != nil {
					continue // the system finds no file
				}
				exist++
				args, err := json.Marshal(map[string]string{"path": path})
				if err != nil {
					t.Fatal(err)
				}
				wrong := ""
				if ruled(t, permission.Allow, allows, string(args)) == "allow" && !within(file, filepath.Join(root, "open")) {
					wrong = "is allowed"
				}
				if ruled(t, permission.Deny, denies, string(args)) != "deny" && within(file, filepath.Join(root, "secret")) {
					wrong = "is not denied"
				}
				if tried++; wrong == "" {
					kept++
					continue
				}
				t.Errorf("%q leads to %s and %s", path, file, wrong)
			}
		})
	}
	t.Attr("tried", strconv.Itoa(tried))
	t.Attr("kept", strconv.Itoa(kept))
}

// within reports whether a file is a directory or below it.
func within(file, dir string) bool { return file == dir || strings.HasPrefix(file, dir+"/") }
