package hookimpl

import (
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// A fire has ended, but not the goroutine in which a hook called next. There an inner hook fails before observers are
// notified. They must hear who decided, as FireBy says it.
func TestLateFailuresDecideNothing(t *testing.T) {
	r := recording{verdict: new(hookkit.Verdict)}
	r.concluded(hookkit.By{Hook: "early", Decision: hookkit.DecisionAnswered}, nil)
	r.failed(&hookkit.Failure{Hook: "late", Cause: hookkit.ErrGoexit}, true, true)
	if r.verdict.Hook != "early" || len(r.verdict.Failures) > 0 || r.err != nil {
		t.Errorf("the verdict is %+v; err: %v", r.verdict, r.err)
	}
}
