package compile_test

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
	"github.com/hookgen/hookgen/internal/usermodule"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the compiler says where it differs")

// TestMistakesDoNotCompile: the compiler rejects each program in testdata with the message in the file want of its
// archive. Each archive is a package. All of them are built at once, in a module outside of this one, like a
// user's.
func TestMistakesDoNotCompile(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	if testing.Short() {
		archives = archives[:3]
	}
	module := usermodule.New(t)
	module.Init("user")
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src := archived(archive, "hook.go")
		if formatted, err := format.Source(src); err != nil || !bytes.Equal(formatted, src) {
			t.Errorf("%s: hook.go is not as gofmt has it (%v)", name, err)
		}
		module.Write(caseName(name)+"/hook.go", string(src))
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
				if *update {
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

// unreadable matches internals of hookimpl and of generated code, which an error message must not mention.
var unreadable = regexp.MustCompile(`go\.shape|hookimpl\.|[a-z]\w*Law\b|generated/|\x00`)

// TestVetFindsCopiedState: the compiler accepts copies of state, and go vet reports them.
func TestVetFindsCopiedState(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	module := usermodule.New(t)
	module.Init("user")
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
	module.Write("user.go", src)
	said := fmt.Sprint(goSays(t, module, "vet", "."))
	for _, copied := range []string{"count", "hooks", "run", "point"} {
		if !strings.Contains(said, copied+" passes lock by value") {
			t.Errorf("vet does not see that %s copies what must not be copied:\n%s", copied, said)
		}
	}
}

// goSays runs a go command that fails in a module, and returns its output by package.
func goSays(t *testing.T, module *usermodule.Module, args ...string) map[string]string {
	t.Helper()
	out, err := module.Try(append([]string{"go"}, args...)...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	said := map[string]string{}
	of := ""
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			of = strings.Trim(strings.TrimSpace(name), "[]")
			continue
		}
		said[of] += line
	}
	return said
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
