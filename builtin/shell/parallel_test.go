package shell_test

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
)

func TestParallelRunsOnlyAllowedScripts(t *testing.T) {
	for command, want := range map[string]bool{
		"parallel git log ::: a b":          true,
		"parallel -j 4 git add {} ::: a.go": true,
		"git ls-files | parallel git add":   true,
		"parallel ::: 'git log' 'git show'": true,
		"parallel git log ';' evil ::: a":   false,
		"parallel git log '$(evil)' ::: a":  false,
		"parallel git log '>f' ::: a":       false,
		"parallel git ::: log":              false, // the input selects the command of git
		"parallel ::: 'git log' evil":       false,
		"parallel ::: 'git log; evil'":      false,
		"parallel -- 'git log' evil":        false,
		"git log | parallel":                false,
		"git log | parallel sh -c":          false,
		"parallel sh -c ::: evil":           false,
		"parallel $x ::: a":                 false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := allowed(t, shell.AnyShell, []string{"git *", "parallel *"}, command); got != want {
				t.Errorf("allowed: %t, want %t", got, want)
			}
		})
	}
}
