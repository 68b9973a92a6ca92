package permission

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

// Remember caches the answers of another approver, so that a person is not asked about the same call twice. It is an
// approver for a loop, not a hook.
//
// Approvals and refusals apply to calls of the same tool with equal arguments, in the same conversation. For example,
// with Share: share.User they also apply to other conversations of the user. A person never answers for another user,
// unless Share says so.
//
// Arguments are equal if they have the same names and values; order, blanks and the notation of numbers do not matter.
// Arguments in which a name occurs twice are equal to no others, because decoders disagree about their value: a yes to
// {"cmd":"ls"} does not answer {"cmd":"rm -rf /","cmd":"ls"}.
//
// Errors are not cached. Neither are answers that arrive after their context is done, change the arguments, answer in
// place of the tool or stop the run.
//
// State: the answers, until Forget. A Remember is safe for concurrent use if its Approver is, and must not be copied.
type Remember struct {
	Approver agent.Approver // required
	Share    share.Scope    // the runs for which an answer counts; set it before the first use

	answers sync.Map // approvals, by question
}

// A question identifies the calls that have one answer.
type question struct {
	owner agent.Identity
	// call is a hash of the canonical text of the call, a cryptographic one because the answer is a decision.
	call [sha256.Size]byte
}

// Approve returns the cached answer, or the answer of the other approver. Its errors are those of the other approver.
func (r *Remember) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	if _, twice := toolargs.Duplicate(q.Call.Args); twice {
		return r.Approver.Approve(ctx, q)
	}
	key := question{r.Share.Of(ownerOf(q)), sha256.Sum256(fingerprint.Canonical(q.Call))}
	if known, ok := r.answers.Load(key); ok {
		return known.(agent.Approval), nil
	}
	answer, err := r.Approver.Approve(ctx, q)
	special := len(answer.Args) > 0 || answer.Output != "" || answer.StopRun || answer.Pending
	if err != nil || ctx.Err() != nil || special { // the loop has ignored a late answer
		return answer, err
	}
	known := answer
	known.Remember = nil // reported once
	r.answers.Store(key, known)
	return answer, nil
}

// ownerOf returns the owner of the run that asks. Without one, it is the run itself.
func ownerOf(q agent.Question) agent.Identity {
	owner := q.Owner
	if owner.Conversation == "" && q.Run != "" {
		owner.Conversation = "run " + q.Run
	}
	return owner
}

// Forget clears the cache.
func (r *Remember) Forget() { r.answers.Clear() }
