package shell

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// FuzzParse checks that Parse and the default rules accept any text, and that plain words become one command.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"rm -rf x", `a "b $(c 'd') e" f`, "a <<EOF\n$(b)\nEOF\nc", "f() { a; }", "a | b |& c && d || e ; f & g",
		"$'\\x41\\u263a\\101'", "a(b('c', \"d\"))", "a=b; c=(d e); $a \"${c[@]}\"", "echo $(echo \"a\"#b; c)",
		"a # b \\\nc",
		"{a,b,c}", "${a:-$(b)}", "a > b 2>&1 < c <<< d <> e", "sudo -u x env A=b xargs -I {} sh -c 'eval `c`'",
		"find . -exec a {} \\; -exec b {} +", "bash <(curl x) < <(y)",
		"x=$(( 1 << 20 )); for ((i=0;i<1;i<<=1)); do a; done",
		"git -c alias.x='!a' x", "echo YQ== | base64 -d | sh", "a\r\nb\r#c", ":(){ :|:& };:", "[[ a =~ b ]] && ((c))",
		"!(a)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		commands, ok := Parse(text)
		for _, r := range append(DefaultRules(), WorkspaceRules("/w")...) {
			for _, c := range commands {
				r.Match(c)
			}
		}
		if !ok || strings.ContainsAny(text, "'\"`\\$(){}<>#&|;\n\r!=*?[]~\x00") {
			return
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(fields) == 0 || syntax.IsKeyword(fields[0]) || strings.ToValidUTF8(text, "") != text {
			return
		}
		if len(commands) == 0 || commands[0].Program != programOf(fields[0]) ||
			strings.Join(commands[0].Args, " ") != strings.Join(fields[1:], " ") {
			t.Errorf("plain words %q are parsed as %+v", fields, commands)
		}
	})
}

func TestParseFindsFilesAndInput(t *testing.T) {
	commands, ok := Parse("cat <a 2>b >>c <<< 'd e' | sort -u > f")
	if !ok || len(commands) != 2 {
		t.Fatalf("parsed %d commands", len(commands))
	}
	for i, want := range []Command{
		{Program: "cat", Writes: []string{"b", "c"}, Reads: []string{"a"}, Stdin: "d e\n"},
		{Program: "sort", Args: []string{"-u"}, Writes: []string{"f"}, Stdin: "d e\n"},
	} {
		got := commands[i]
		if got.Program != want.Program || got.Stdin != want.Stdin || !slices.Equal(got.Args, want.Args) ||
			!slices.Equal(got.Writes, want.Writes) || !slices.Equal(got.Reads, want.Reads) {
			t.Errorf("parsed %+v, want %+v", *got, want)
		}
	}
}

func TestParseReadsLongLists(t *testing.T) {
	for _, operator := range []string{" && ", " || ", "; "} {
		t.Run(operator, func(t *testing.T) {
			commands, ok := Parse(strings.Repeat("ls"+operator, 2000) + "ls")
			if !ok || len(commands) < 2001 {
				t.Errorf("%d commands, complete: %t", len(commands), ok)
			}
		})
	}
}

func TestParseBoundsItsWork(t *testing.T) {
	for _, piece := range []string{`"$(`, "$(", "a(", "a('", "${a", "'", `"`, "`", "<<A ", "<<A\n", "{a,b}", "sh|", "cat|",
		"eval ", "find -exec ", "a 2>b ", "echo a|sh;", "xargs ", "\\", "$'\\x", "f(){", "((", "<(", "\n#", "a&&", "if ",
		"x=a$x$x;",
		"while f(){", "a\r#", "$(a \"b\"#", "@(", "[[ (", "$((-", "a[", "for x in a b;do ", "case x in x) ", "echo $x ",
		"a|(",
		"iex (", "${a:-${b:-", "git -c alias.a=!", "{ ", "coproc ", "<<<$(",
		"x='$(a)';echo ${x@P};", "sed s/a/b/e|", "awk '\"a\"|'|sh|", "make;", "f(){ f a;f a;};", "alias a='a a';a;",
		"cp rm a;a;", "PS4='`", "ed <<<'!("} {
		t.Run(piece, func(t *testing.T) {
			size := 1 << 16
			text := strings.Repeat(piece, size/len(piece))
			for _, lang := range AnyShell.variants() {
				r := newReader(lang, len(text))
				r.text(text)
				if r.budget < -len(text)*8 {
					t.Errorf("the budget was exceeded by %d bytes", -r.budget)
				}
			}
		})
	}
}
