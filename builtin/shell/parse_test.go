package shell

import (
	"strings"
	"testing"
)

func FuzzEveryCommandCanBeRead(f *testing.F) {
	for _, s := range []string{
		"rm -rf x", `a "b $(c 'd') e" f`, "a <<EOF\n$(b)\nEOF\nc", "f() { a; }", "a | b |& c && d || e ; f & g", "$'\\x41\\u263a\\101'", "a(b('c', \"d\"))",
		"{a,b,c}", "${a:-$(b)}", "a > b 2>&1 < c <<< d <> e", "sudo -u x env A=b xargs -I {} sh -c 'eval `c`'", "find . -exec a {} \\; -exec b {} +", "bash <(curl x) < <(y)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		commands, ok := shellCommands(text)
		for _, r := range shellRules {
			for _, c := range commands {
				r.Match(c)
			}
		}
		if !ok || strings.ContainsAny(text, "'\"`\\$(){}<>#&|;\n\r!=") {
			return
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(fields) == 0 || shellKeywords[fields[0]] || fields[0] == "function" {
			return
		}
		if len(commands) == 0 || commands[0].Program != programOf(fields[0]) || strings.Join(commands[0].Args, " ") != strings.Join(fields[1:], " ") {
			t.Errorf("plain words %q are read as %+v", fields, commands)
		}
	})
}

func TestACommandIsReadWithItsFilesAndItsInput(t *testing.T) {
	commands, ok := shellCommands("cat <a 2>b >>c <<< 'd e' | sort -u > f")
	if !ok || len(commands) != 2 {
		t.Fatalf("read %d commands", len(commands))
	}
	for i, want := range []Command{
		{Program: "cat", Writes: []string{"b", "c"}, Reads: []string{"a"}, Stdin: "d e\n"},
		{Program: "sort", Args: []string{"-u"}, Writes: []string{"f"}, Stdin: "d e"},
	} {
		got := commands[i]
		same := got.Program == want.Program && strings.Join(got.Args, " ") == strings.Join(want.Args, " ") &&
			strings.Join(got.Writes, " ") == strings.Join(want.Writes, " ") && strings.Join(got.Reads, " ") == strings.Join(want.Reads, " ") && got.Stdin == want.Stdin
		if !same {
			t.Errorf("read %+v, want %+v", *got, want)
		}
	}
}

func TestTheWorkForATextIsBounded(t *testing.T) {
	for _, piece := range []string{`"$(`, "$(", "a(", "a('", "${a", "'", `"`, "`", "<<A ", "<<A\n", "{a,b}", "sh|", "cat|", "eval ", "find -exec ", "a 2>b ", "echo a|sh;", "xargs ", "\\", "$'\\x", "f(){", "((", "<(", "\n#"} {
		size := 1 << 17
		text := strings.Repeat(piece, size/len(piece))
		r := newShellReader(len(text))
		r.text(text)
		if r.effort.left < -len(text)*8 {
			t.Errorf("%q: %d more than the bound was spent", piece, -r.effort.left)
		}
	}
}
