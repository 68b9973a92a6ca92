package permission

import (
	"context"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/generated/agent"
)

// Remember is an approver that asks another one and remembers what it said, so that a person is not asked about
// the same call twice. It is no hook: give it to the loop.
//
// A yes and a no are remembered for calls of the same tool with the same arguments, by value; with ByTool for all calls
// of the tool. An approver that fails, or answers when nobody waits any more, is asked again. Calls that wait for the
// same answer are asked about once. State: the answers, until Forget. Safe for concurrent use; it must not be copied.
type Remember struct {
	Approver agent.Approver // required
	ByTool   bool

	mu      sync.Mutex
	answers map[string]*remembered
}

type remembered struct {
	done   chan struct{}
	answer agent.Approval
	ok     bool
}

// Approve returns the remembered answer, or asks.
func (r *Remember) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	key := q.Call.Name
	if !r.ByTool {
		key = fingerprint.Digest(q.Call)
	}
	for {
		r.mu.Lock()
		if r.answers == nil {
			r.answers = make(map[string]*remembered)
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

// ask asks, and keeps the answer if there is one.
func (r *Remember) ask(ctx context.Context, q agent.Question, key string, known *remembered) (answer agent.Approval, err error) {
	defer func() {
		r.mu.Lock()
		if !known.ok && r.answers[key] == known {
			delete(r.answers, key)
		}
		r.mu.Unlock()
		close(known.done)
	}()
	answer, err = r.Approver.Approve(ctx, q)
	known.answer, known.ok = answer, err == nil && ctx.Err() == nil // a late answer was taken for none
	return answer, err
}

// Forget forgets all answers.
func (r *Remember) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = nil
}
