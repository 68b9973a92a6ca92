package hookimpl

import (
	"cmp"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// Acted makes the answer the result of the wrapped act.
func Acted[R any](a *hookkit.Answer[R], inv *AroundInvocation, r R) {
	(*opaque.Answer[R])(a).Acted(r, inv.id())
}

// Missing reports whether the answer is the zero Answer.
func Missing[R any](a *hookkit.Answer[R]) bool { return !(*opaque.Answer[R])(a).Given() }

// Pass records that the answer leaves hook i, counted from 0, on its way out.
func Pass[R any](a *hookkit.Answer[R], inv *AroundInvocation, s *Snapshot, i int) {
	if own := (*opaque.Answer[R])(a); own.Replaced(inv.id()) { // so that the act did not give it
		own.Pass(inv.id(), s.entries[i].answered())
	}
}

// Reply returns the answer of an around hook as the reply of a hook for any point.
func Reply[R any](a hookkit.Answer[R]) hookkit.AnyReply {
	return hookkit.AnyReply{Result: boxed[R]{opaque.Answer[R](a)}}
}

// AnswerOf returns the answer in the reply that a hook for any point gave to an around point. If err is nil and
// the reply has a result of another type, a decision or a contribution, the error is ErrIllegal.
func AnswerOf[R any](reply hookkit.AnyReply, err error) (answer hookkit.Answer[R], _ error) {
	foreign := cmp.Or(reply.Outcome, reply.Collected)
	switch r := reply.Result.(type) {
	case boxed[R]:
		answer = hookkit.Answer[R](r.answer)
	case R:
		answer = hookkit.Answered(r)
	default:
		foreign = cmp.Or(foreign, reply.Result)
	}
	if foreign != nil && err == nil {
		err = Illegal(foreign)
	}
	return answer, err
}

// An anyAnswer is a boxed answer of any type.
type anyAnswer interface {
	missing() bool
	replaced() bool
}

// boxed is an answer in a reply.
type boxed[R any] struct{ answer opaque.Answer[R] }

func (b boxed[R]) missing() bool { return !b.answer.Given() }

// replaced reports whether the hook that returned the answer made it.
func (b boxed[R]) replaced() bool { return b.answer.Made() }
