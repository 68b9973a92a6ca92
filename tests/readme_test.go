package tests

import (
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readmeCommands are all the commands that a newcomer is told to run.
var readmeCommands = []string{"go run ./examples/tour", "go test ./..."}

// A block is a piece of the README between fences.
type block struct {
	language string
	text     string
}

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "README.md"))
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

// TestReadme builds what the README shows, runs it, and compares what it and the compiler print. A text behind a
// change is the compiler's, any other the program's.
func TestReadme(t *testing.T) {
	t.Parallel()
	hookgen := buildHookgen(t)
	d := newDownstream(t)
	d.requireThisModule()
	d.run("go", "mod", "edit", "-module", "example.com/tour")
	var (
		commands []string
		shown    = map[string]int{}
		changed  bool
	)
	for _, b := range readmeBlocks(t) {
		shown[b.language]++
		switch b.language {
		case "go":
			name := d.writeBlock(b.text)
			if strings.HasSuffix(name, "spec.go") {
				d.run(hookgen, filepath.Dir(name))
			}
			d.run("go", "build", "-o", os.DevNull, "./...")
			d.run("go", "vet", "./...")
		case "diff":
			d.applyBlock(b.text)
			changed = true
		case "text":
			out, err := d.try("go", "run", ".")
			if changed {
				out, err = d.try("go", "build", "./...")
			}
			if (err != nil) != changed || out != b.text {
				t.Errorf("%v, got:\n%s\nthe README says:\n%s", err, out, b.text)
			}
		case "sh":
			commands = append(commands, strings.TrimSpace(b.text))
		default:
			t.Errorf("nothing is done with a block of %q", b.language)
		}
	}
	if !slices.Equal(commands, readmeCommands) {
		t.Errorf("the README tells to run %q, want %q", commands, readmeCommands)
	}
	if shown["go"] < 3 || shown["diff"] < 1 || shown["text"] < 2 {
		t.Errorf("the README shows %v", shown)
	}
}

// writeBlock writes a file whose name is in the first line, without that line and the blank one below it, and returns
// the name.
func (d *downstream) writeBlock(text string) string {
	d.t.Helper()
	first, text, _ := strings.Cut(text, "\n\n")
	name, ok := strings.CutPrefix(first, "// ")
	if !ok || filepath.Ext(name) != ".go" {
		d.t.Fatalf("the first line of a block of Go names no file: %q", first)
	}
	clean, err := format.Source([]byte(text))
	if err != nil || string(clean) != text {
		d.t.Errorf("%s is not as gofmt has it: %v", name, err)
	}
	d.write(name, text)
	return name
}

// applyBlock replaces lines of the file that its first line names.
func (d *downstream) applyBlock(text string) {
	d.t.Helper()
	var name, old, new string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "--- "):
			name = strings.TrimSpace(line[4:])
		case strings.HasPrefix(line, "-"):
			old += line[1:]
		case strings.HasPrefix(line, "+"):
			new += line[1:]
		default:
			d.t.Errorf("a line of a change is neither taken away nor added: %q", line)
		}
	}
	before := d.read(name)
	if strings.Count(before, old) != 1 {
		d.t.Fatalf("%s does not have exactly one %q", name, old)
	}
	d.write(name, strings.Replace(before, old, new, 1))
}

// TestTheReadmeShowsTheFilesOfTheTour keeps the two from telling different stories.
func TestTheReadmeShowsTheFilesOfTheTour(t *testing.T) {
	var shown []string
	for _, b := range readmeBlocks(t) {
		if _, text, ok := strings.Cut(b.text, "\n\n"); ok && b.language == "go" {
			shown = append(shown, text)
		}
	}
	for _, name := range []string{"spec.go", "limit.go"} {
		text, err := os.ReadFile(filepath.Join(root(t), "examples", "tour", "files", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(shown, string(text)) {
			t.Errorf("the README does not show the tour's %s", name)
		}
	}
}

// TestTheChecksRunTheTestsOfTheReadme reads what runs before a change is taken.
func TestTheChecksRunTheTestsOfTheReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), ".ci", "run"))
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
