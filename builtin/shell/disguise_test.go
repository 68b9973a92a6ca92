package shell_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
)

// quoted returns a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// A disguise hides a command in another one that runs it.
type disguise struct {
	name string
	hide func(command string) string
}

// around is a disguise by a format: %s is the command, %q the command as one word of a shell.
func around(format string) disguise {
	before, after, _ := strings.Cut(format, "%")
	kind, after := after[0], after[1:]
	return disguise{format, func(command string) string {
		if kind == 'q' {
			command = quoted(command)
		}
		return before + command + after
	}}
}

// script is a disguise as the text of another language in one word of a shell.
func script(format string) disguise {
	return disguise{format, func(command string) string {
		program, code, _ := strings.Cut(format, "|")
		return program + quoted(fmt.Sprintf(code, strconv.Quote(command)))
	}}
}

var disguises = []disguise{
	around("true && %s"), around("false || %s"), around("(%s\n)"), around("{ %s\n}"), around("if true; then %s\nfi"),
	around("while :; do %s\nbreak; done"), around("f() { %s\n}; f"), around("echo $(%s\n)"), around("cat <(%s\n)"),
	around("case x in *) %s\n;; esac"), around("%s\n& wait"), around("time { %s\n}"), around("! { %s\n}"),
	around("# a comment\n%s"), around("ls # it's\n%s"), around("cat <<'EOF'\nhello\nEOF\n%s"),
	around("sh -c %q"), around("bash -lc %q"), around("eval %q"), around("sudo sh -c %q"), around("env -i bash -c %q"),
	around("nohup sh -c %q &"), around("timeout 5 sh -c %q"), around("xargs -I{} sh -c %q"), around("ssh host %q"),
	around("find . -exec sh -c %q \\;"), around("docker run alpine sh -c %q"), around("su -c %q"), around("trap %q EXIT"),
	around("git -c alias.x='!'%q x"), around("echo %q | sh"), around("echo -n %q | bash -s"), around("sh <<< %q"),
	around("x=%q; eval \"$x\""), around("x=%q; sh -c \"$x\""), around("alias ls=%q\nls"), around("watch %q"),
	around("sh <<'END_OF_SCRIPT'\n%s\nEND_OF_SCRIPT"), around("cat >x.sh <<'END_OF_SCRIPT'\n%s\nEND_OF_SCRIPT\nsh x.sh"),
	around("echo %q >x.sh; chmod +x x.sh; ./x.sh"), around("kubectl exec pod -- sh -c %q"), around("parallel ::: %q"),
	{"base64", func(c string) string {
		return "echo " + base64.StdEncoding.EncodeToString([]byte(c)) + " | base64 -d | sh"
	}},
	{"hexadecimal", func(c string) string { return "echo " + hex.EncodeToString([]byte(c)) + " | xxd -r -p | sh" }},
	{"escape sequences", func(c string) string { return "eval $'" + escapes(c) + "'" }},
	{"base64 in Python", func(c string) string {
		return `python3 -c 'import os,base64; os.system(base64.b64decode("` +
			base64.StdEncoding.EncodeToString([]byte(c)) + `"))'`
	}},
	{"reversed", func(c string) string {
		letters := []rune(c)
		slices.Reverse(letters)
		return "echo " + quoted(string(letters)) + " | rev | sh"
	}},
	{"a variable in the middle", func(c string) string {
		return "x=" + quoted(c[:len(c)/2]) + "; y=" + quoted(c[len(c)/2:]) + `; eval "$x$y"`
	}},
	script("python3 -c |import os; os.system(%s)"), script("python3 -c |import os\nx = %s\nos.system(x)"),
	script("perl -e |system(%s)"), script("ruby -e |system(%s)"), script("php -r |system(%s);"),
	script("node -e |require('child_process').execSync(%s)"), script("awk |BEGIN { system(%s) }"),
}

// escapes writes a text as hexadecimal escape sequences.
func escapes(text string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, `\x%02x`, text[i])
	}
	return b.String()
}

// The guard does not promise to see through every disguise, for example not through encodings within programs of other
// languages. docs/evidence/security.md has the share that it finds.
func TestGuardFindsDisguisedCommands(t *testing.T) {
	tried, found, all := 0, 0, destructive(t)
	for _, d := range disguises {
		t.Run(d.name, func(t *testing.T) {
			n, total := 0, 0
			for _, commands := range all {
				for i, command := range commands {
					if testing.Short() && i%10 > 0 {
						continue
					}
					total++
					if denied(t, &shell.Guard{}, d.hide(command)) != "" {
						n++
					}
				}
			}
			tried, found = tried+total, found+n
			t.Logf("%d of %d are found", n, total)
		})
	}
	if found*100 < tried*90 {
		t.Errorf("%d of %d disguised commands are denied, want 90 %%", found, tried)
	}
	t.Attr("tried", strconv.Itoa(tried))
	t.Attr("kept", strconv.Itoa(found))
}
