package wasm_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestReadmeHasThePrograms(t *testing.T) {
	readmetest.CheckProgram(t)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	guard, err := os.ReadFile("example/guard/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(readme, guard) {
		t.Errorf("README.md does not have the guest of the example")
	}
}

func TestReadmeNamesTheLinkedModules(t *testing.T) { readmetest.CheckLinked(t) }

// TestTheProgramOfTheReadme runs the commands of README.md.
func TestTheProgramOfTheReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles another guest")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "$ go run . guard.wasm\n")
	shown, _, _ = strings.Cut(shown, "```")
	file := filepath.Join(t.TempDir(), "guard.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", file, "./example/guard")
	build.Env = append(os.Environ(), "GOWORK=off", "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := exec.Command("go", "run", "./example", file)
	program.Env = append(os.Environ(), "GOWORK=off")
	out, err := program.CombinedOutput()
	if got := strings.ReplaceAll(string(out), file, "guard.wasm"); err != nil || got != shown {
		t.Errorf("the program wrote %q, %v; README.md has %q", got, err, shown)
	}
}
