package shell_test

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
)

// GNU parallel joins its words to a script and runs its inputs, so no rule covers it.
func TestNoRuleCoversParallel(t *testing.T) {
	for _, command := range []string{
		"parallel git log ::: a b", "git ls-files | parallel git add", "parallel git log ';' evil ::: a",
		"parallel ::: 'git log' evil", "parallel -- 'git log' evil", "git log | parallel", "parallel sh -c ::: evil",
	} {
		t.Run(command, func(t *testing.T) {
			if allowed(t, shell.AnyShell, []string{"git *", "parallel *"}, command) {
				t.Error("the rule allows it")
			}
		})
	}
}
