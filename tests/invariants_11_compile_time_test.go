package tests

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var updateCompileFail = flag.Bool("update.compilefail", false, "write what the compiler says where it differs")

// TestInvariant11_CompileTime: each program in compilefail is refused by the compiler with the message written in
// it. In an archive, hook.go is a package of its own, and want is what the compiler says of it. All of
// them are built at once, in a module outside of this one, as a user's would be.
func TestInvariant11_CompileTime(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	archives, err := filepath.Glob("compilefail/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	module := userModule(t)
	for _, name := range archives {
		dir := filepath.Join(module, caseName(name))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src := archived(archive, "hook.go")
		if formatted, err := format.Source(src); err != nil || !bytes.Equal(formatted, src) {
			t.Errorf("%s: hook.go is not as gofmt has it (%v)", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "hook.go"), src, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said := goSays(t, module, "build", "-gcflags=-e", "./...")
	for _, name := range archives {
		t.Run(caseName(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := said["user/"+caseName(name)]
			delete(said, "user/"+caseName(name))
			if got == "" {
				t.Fatal("the compiler has nothing to say of it")
			}
			if m := unreadable.FindString(got); m != "" {
				t.Errorf("a user cannot know what %q is:\n%s", m, got)
			}
			if diff := cmp.Diff(string(archived(archive, "want")), got); diff != "" {
				if *updateCompileFail {
					setArchived(t, name, archive, "want", got)
					return
				}
				t.Errorf("the compiler says something else (-want +got):\n%s", diff)
			}
		})
	}
	for of, text := range said {
		t.Errorf("the compiler also refused %s:\n%s", of, text)
	}
}

// unreadable is what only somebody who knows the source of hookimpl or of generated code would understand.
var unreadable = regexp.MustCompile(`go\.shape|hookimpl\.|[a-z]\w*Law\b|generated/|\x00`)

// TestWhatOnlyVetSees: what the compiler lets pass, and go vet does not.
func TestWhatOnlyVetSees(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	module := userModule(t)
	src := `package user

import (
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

type counter struct{ seen hookkit.PerRun[int] }

func count(c counter)      {}
func hooks(h agent.Hooks)  {}
func run(r agent.Run)      {}
func point(p agent.OnRunEndPoint) {}
`
	if err := os.WriteFile(filepath.Join(module, "user.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(goSays(t, module, "vet", "."))
	for _, copied := range []string{"count", "hooks", "run", "point"} {
		if !strings.Contains(said, copied+" passes lock by value") {
			t.Errorf("vet does not see that %s copies what must not be copied:\n%s", copied, said)
		}
	}
}

// userModule makes a module named user that uses this one, as somebody else's would, and returns its directory.
func userModule(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/hookgen/hookgen"
	text := strings.Replace(string(mod), "module "+path+"\n", "module user\n", 1) +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", path, path, root)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goSays runs a go command that fails in a module, and returns what it says of each package.
func goSays(t *testing.T, module string, args ...string) map[string]string {
	t.Helper()
	out, err := goIn(module, args...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	said := map[string]string{}
	of := ""
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			of = strings.Trim(strings.TrimSpace(name), "[]")
			continue
		}
		said[of] += line
	}
	return said
}

// goIn is a go command in a module that [userModule] made.
func goIn(module string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	return cmd
}

func caseName(archive string) string { return strings.TrimSuffix(filepath.Base(archive), ".txtar") }

// archived returns a file of an archive.
func archived(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func setArchived(t *testing.T, path string, a *txtar.Archive, name, text string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(text)
		}
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
