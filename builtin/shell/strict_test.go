package shell_test

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
)

func TestVariablesOfProgramsAreNotSet(t *testing.T) {
	globs := []string{"git *", "cat*", "export *"}
	for command, want := range map[string]bool{
		"x=a; git log": true, "x+=a; git log": true, "abc1=a; git log": true, "LANG=C git log": true,
		"LANG=C+b git log": true,
		"PATH=a git log":   false, "PATH+=:a; git log": false, "path=a; git log": false, "path+=a; git log": false,
		"LANG=$x git log": false, "LANG='a b' git log": false, "LANG+=C; git log": true, "Path=a; git log": false,
		"a_b=a; git log": false, "export PATH=a; git log": false, "for path in a; do git log; done": false,
		"for x in a; do git log; done": true, "for PATH in a; do git log; done": false,
		"git log \u200b": false, "git log \x07": false, "git log\u00a0x": false,
		"cat <<EOF\na\nEOF": true, "cat <<EOF\n$(rm x)\nEOF": false, "cat <<EOF\n`rm x`\nEOF": false,
		"cat <<'EOF'\n$(rm x)\nEOF":  true,
		"cat <<EOF\n$(git log)\nEOF": true, "cat <<EOF\na\\\nb\nEOF": false, "cat <<EOF\n${x:=$(rm y)}\nEOF": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := allowed(t, shell.Bash, globs, command); got != want {
				t.Errorf("got %t", got)
			}
		})
	}
}
