package tests

import (
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// readmeCommands are the commands that the README shows a newcomer.
var readmeCommands = []string{"go run ./examples/tour", "go test ./..."}

// A block is a fenced block of the README.
type block struct {
	language string
	text     string
}

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(usermodule.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	inside := false
	for line := range strings.Lines(string(text)) {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			blocks = append(blocks, block{language: strings.TrimSpace(language)})
			inside = true
		case fence:
			inside = false
		case inside:
			blocks[len(blocks)-1].text += line
		}
	}
	if inside {
		t.Fatal("the last block has no end")
	}
	return blocks
}

// TestReadme builds and runs the code of the README and compares the output. A text after a change is compiler
// output, any other text is program output. Each change applies to the original code.
func TestReadme(t *testing.T) {
	t.Parallel()
	hookgen := usermodule.BuildHookgen(t)
	m := usermodule.New(t)
	m.Init("example.com/tour")
	var (
		commands []string
		shown    = map[string]int{}
		original map[string]string // of changed files; nil before the first change
	)
	generate := func(name string) {
		if strings.HasSuffix(name, "spec.go") {
			m.Run(hookgen, filepath.Dir(name))
		}
	}
	for _, b := range readmeBlocks(t) {
		shown[b.language]++
		switch b.language {
		case "go":
			generate(writeBlock(t, m, b.text))
			m.Run("go", "build", "-o", os.DevNull, "./...")
			m.Run("go", "vet", "./...")
		case "diff":
			for name, text := range original {
				m.Write(name, text)
				generate(name)
			}
			original = applyBlock(t, m, b.text)
			for name := range original {
				generate(name)
			}
		case "text":
			out, err := m.Try("go", "run", ".")
			if original != nil {
				out, err = m.Try("go", "build", "./...")
			}
			if (err != nil) != (original != nil) || out != b.text {
				t.Errorf("%v, got:\n%s\nthe README says:\n%s", err, out, b.text)
			}
		case "sh":
			commands = append(commands, strings.TrimSpace(b.text))
		default:
			t.Errorf("the test ignores a block of %q", b.language)
		}
	}
	if !slices.Equal(commands, readmeCommands) {
		t.Errorf("the README shows the commands %q, want %q", commands, readmeCommands)
	}
	if shown["go"] < 3 || shown["diff"] < 2 || shown["text"] < 3 {
		t.Errorf("the README shows %v", shown)
	}
}

// writeBlock writes a file whose name is in the first line, without that line and the blank one below it, and returns
// the name.
func writeBlock(t *testing.T, m *usermodule.Module, text string) string {
	t.Helper()
	first, text, _ := strings.Cut(text, "\n\n")
	name, ok := strings.CutPrefix(first, "// ")
	if !ok || filepath.Ext(name) != ".go" {
		t.Fatalf("the first line of a block of Go names no file: %q", first)
	}
	clean, err := format.Source([]byte(text))
	if err != nil || string(clean) != text {
		t.Errorf("%s is not as gofmt has it: %v", name, err)
	}
	m.Write(name, text)
	return name
}

// applyBlock replaces lines of files and returns the original files. A line "--- NAME" begins each replacement.
func applyBlock(t *testing.T, m *usermodule.Module, text string) (before map[string]string) {
	t.Helper()
	before = map[string]string{}
	for _, change := range strings.Split("\n"+text, "\n--- ")[1:] {
		name, lines, _ := strings.Cut(change, "\n")
		var old, new string
		for line := range strings.Lines(strings.TrimSuffix(lines, "\n") + "\n") {
			switch {
			case strings.HasPrefix(line, "-"):
				old += line[1:]
			case strings.HasPrefix(line, "+"):
				new += line[1:]
			default:
				t.Errorf("a line of a change is neither removed nor added: %q", line)
			}
		}
		text := m.Read(name)
		if strings.Count(text, old) != 1 {
			t.Fatalf("%s does not have exactly one %q", name, old)
		}
		if _, changed := before[name]; !changed {
			before[name] = text
		}
		m.Write(name, strings.Replace(text, old, new, 1))
	}
	return before
}

// TestReadmeShowsTheFilesOfTheTour compares the README with the files of the tour.
func TestReadmeShowsTheFilesOfTheTour(t *testing.T) {
	var shown []string
	for _, b := range readmeBlocks(t) {
		if _, text, ok := strings.Cut(b.text, "\n\n"); ok && b.language == "go" {
			shown = append(shown, text)
		}
	}
	for _, name := range []string{"spec.go", "limit.go"} {
		text, err := os.ReadFile(filepath.Join(usermodule.Root(t), "examples", "tour", "files", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(shown, string(text)) {
			t.Errorf("the README does not show the tour's %s", name)
		}
	}
}

// TestChecksRunTheTestsOfTheReadme reads the check script.
func TestChecksRunTheTestsOfTheReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(usermodule.Root(t), ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	tests := readmeCommands[len(readmeCommands)-1]
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "step ") && strings.HasSuffix(strings.TrimSpace(line), "' "+tests) {
			return
		}
	}
	t.Errorf(".ci/run has no step that runs %q", tests)
}
