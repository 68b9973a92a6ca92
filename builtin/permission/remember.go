package permission

import (
	"context"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/digest"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

// Remember caches the answers of another approver, so that a person is not asked about the same call twice. It is an
// approver for a loop, not a hook.
//
// Approvals and refusals apply to calls of the same tool with equal arguments, or with ByTool to all calls of the tool,
// in the same conversation. For example, with Share: share.User they also apply to other conversations of the user. A
// person never answers for another user, unless Share says so.
//
// Arguments are equal if they have the same names and values; order, blanks and the notation of numbers do not matter.
// Arguments in which a name occurs twice are equal to no others, because decoders disagree about their value: a yes to
// {"cmd":"ls"} does not answer {"cmd":"rm -rf /","cmd":"ls"}.
//
// Concurrent questions about equal calls reach the other approver once. Errors are not cached. Neither are answers
// that arrive after their context is done, change the arguments, answer in place of the tool or stop the run.
//
// State: the answers, until Forget. A Remember is safe for concurrent use and must not be copied.
type Remember struct {
	Approver agent.Approver // required
	ByTool   bool           // one answer per tool, whatever the arguments
	Share    share.Scope    // the runs for which an answer counts; set it before the first use

	mu      sync.Mutex
	answers map[question]*remembered
}

// A question identifies the calls that have one answer.
type question struct {
	owner agent.Identity
	call  string // a digest, or the name of the tool
}

type remembered struct {
	done   chan struct{} // closed when the other approver has returned
	answer agent.Approval
	ok     bool // answer is valid
}

// Approve returns the cached answer, or the answer of the other approver. Its errors are those of the other approver,
// or the cause of ctx if ctx is done while another question about the call is pending.
func (r *Remember) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	key := question{r.Share.Of(ownerOf(q)), q.Call.Name}
	if !r.ByTool {
		if _, twice := toolargs.Duplicate(q.Call.Args); twice {
			return r.Approver.Approve(ctx, q)
		}
		key.call = digest.Call(q.Call)
	}
	for {
		r.mu.Lock()
		if r.answers == nil {
			r.answers = make(map[question]*remembered)
		}
		known := r.answers[key]
		if known == nil {
			known = &remembered{done: make(chan struct{})}
			r.answers[key] = known
			r.mu.Unlock()
			return r.ask(ctx, q, key, known)
		}
		r.mu.Unlock()
		select {
		case <-known.done:
			if known.ok {
				return known.answer, nil
			}
		case <-ctx.Done():
			return agent.Approval{}, context.Cause(ctx)
		}
	}
}

// ownerOf returns the owner of the run that asks. Without one, it is the run itself.
func ownerOf(q agent.Question) agent.Identity {
	owner := q.Owner
	if owner.Conversation == "" && q.Run != "" {
		owner.Conversation = "run " + q.Run
	}
	return owner
}

// ask asks the other approver and caches a valid answer.
func (r *Remember) ask(
	ctx context.Context, q agent.Question, key question, known *remembered,
) (answer agent.Approval, err error) {
	defer func() {
		r.mu.Lock()
		if !known.ok && r.answers[key] == known {
			delete(r.answers, key)
		}
		r.mu.Unlock()
		close(known.done)
	}()
	answer, err = r.Approver.Approve(ctx, q)
	special := len(answer.Args) > 0 || answer.Output != "" || answer.StopRun || answer.Pending
	known.answer, known.ok = answer, err == nil && ctx.Err() == nil && !special // the loop has ignored a late answer
	known.answer.Remember = nil                                                 // reported once
	return answer, err
}

// Forget clears the cache.
func (r *Remember) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = nil
}
