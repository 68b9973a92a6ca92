package shell_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
)

// TestParseFindsEachCommand reads testdata/commands.txt: a text in Go syntax on a line of its own, and below it the
// commands in order, one a line: the words, then the files that the command writes and reads, its input and the
// programs whose output it executes. All commands that a shell would run are there. Text of other languages also yields
// words that are not commands.
func TestParseFindsEachCommand(t *testing.T) {
	data, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		first, want, _ := strings.Cut(block, "\n")
		text, err := strconv.Unquote(first)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		t.Run(text, func(t *testing.T) {
			commands, ok := shell.Parse(text)
			if !ok {
				t.Fatal("the text is too complex")
			}
			if got := described(commands); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// described returns the commands, each once.
func described(commands []*shell.Command) string {
	var lines []string
	for _, c := range commands {
		line := "\t" + word(c.Program)
		for _, arg := range c.Args {
			line += " " + word(arg)
		}
		for _, file := range c.Writes {
			line += " >" + word(file)
		}
		for _, file := range c.Reads {
			line += " <" + word(file)
		}
		if c.Stdin != "" {
			line += fmt.Sprintf(" <<%q", c.Stdin)
		}
		for _, from := range c.Executes {
			line += " executes:" + word(from.Program)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// word quotes a word if it is not plain.
func word(text string) string {
	if text == "" || strings.ContainsAny(text, " \t\n\"<>\\") || strconv.Quote(text) != `"`+text+`"` {
		return strconv.Quote(text)
	}
	return text
}
