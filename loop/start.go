package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// An origin describes what starts a run. The zero value is a call of Do.
type origin struct {
	outer   *run        // the run that starts this one
	emit    func(Event) // the reader of Stream
	state   *snapshot   // the run was suspended and continues
	typed   *typed      // the type of the answer; nil: any text
	mayWait bool        // the outer run can be suspended with this one
	handoff bool        // the run takes over from the outer one
}

// newRun prepares a run without firing a point. Its errors match ErrNotStarted. A panic, for example of the model's
// ContextWindow, becomes an error.
func newRun(ctx context.Context, a *Agent, req Request, from origin) (r *run, err error) {
	if a == nil {
		return nil, &notStarted{errors.New("the agent is nil; make one")}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	var (
		lease string
		back  func() error // puts a run that was taken from Agent.Runs back
	)
	err = recoverAsError("the start of the run", func() (err error) {
		if lease, back, err = a.take(ctx, &req, from); err == nil {
			r, err = prepare(ctx, a, req, from)
		}
		return err
	})
	if err != nil {
		err = usableError(err)
		if back != nil {
			err = errors.Join(err, recoverAsError("Agent.Runs", back))
		}
		return nil, &notStarted{err}
	}
	r.lease = lease
	return r, nil
}

func prepare(ctx context.Context, a *Agent, req Request, from origin) (*run, error) {
	outer := from.outer
	if err := a.check(outer); err != nil {
		return nil, err
	}
	answers, err := a.resumed(&req, &from)
	if err != nil {
		return nil, fmt.Errorf("agent %q: the run cannot be resumed: %w", a.name(), err)
	}
	if err := checkOwner(req); err != nil {
		return nil, fmt.Errorf("agent %q: %w", a.name(), err)
	}
	messages := req.Messages
	if from.state == nil {
		messages = answerOpen(messages)
	}
	if err := agentspec.CheckPairs(messages, from.state != nil); err != nil {
		return nil, fmt.Errorf("agent %q: the conversation cannot be continued: %w", a.name(), err)
	}
	tools, err := newTable(a, from.typed)
	if err != nil {
		return nil, err
	}
	r := &run{
		agent: a, outer: outer, tools: tools, task: req.Task, parts: req.Parts,
		model: a.Model, approver: a.Approver, clock: a.Clock, ctx: ctx,
		reportedBudgets: make(map[agent.BudgetKind]bool),
		inbox:           new(inbox), typed: from.typed,
		paused: paused{
			from: from.state, resumption: resumption{answers, req.Continue, req.Dispatch}, mayWait: outer == nil || from.mayWait,
		},
	}
	r.compactor.set(a.Compactor)
	r.inherit(outer, from.handoff)
	tokens := a.Tokens
	if isNil(tokens) {
		tokens, _ = r.model.(agent.TokenCounter)
	}
	if isNil(tokens) {
		tokens = estimate{}
	}
	if err := r.takeHooks(outer, req.Use); err != nil {
		return nil, err
	}
	r.limits = a.Limits.resolved(r.model)
	if len(req.Data) > 0 && !json.Valid(req.Data) {
		return nil, fmt.Errorf("agent %q: Data is not valid JSON; encode it with json.Marshal", a.name())
	}
	if outer != nil {
		if len(req.Data) == 0 {
			req.Data = outer.env.Data
		}
		req.Tenant, req.User, req.Conversation = outer.env.Tenant, outer.env.User, outer.conversation.id
	}
	r.conversation = newConversation(req.Conversation, a.Instructions, messages, tokens)
	r.counts.restore(agent.Counters{
		Step: req.Resume.Steps, ModelCalls: req.Resume.ModelCalls, ToolCalls: req.Resume.ToolCalls, Tools: req.Resume.Tools,
		Usage: req.Resume.Usage, Models: req.Resume.Models, Elapsed: req.Resume.Elapsed, Rejections: req.Resume.Rejections,
	})
	for r.seed = req.Seed; r.seed == 0; {
		r.seed = rand.Uint64()
	}
	r.random = newSource(r.seed)
	r.restoreState()
	r.env = &agent.Env{
		Agent: a.name(), Tenant: req.Tenant, User: req.User, Conversation: r.conversation, Data: slices.Clone(req.Data),
		Model: handle{r}, Tools: tools, Tokens: r.conversation,
		Random: r.random, Seed: r.seed, Clock: reportingClock{r.clock, r},
		Counters: r.countersForEnv, Exceeded: r.exceeded, RequestCompaction: func(reason string) { r.compact.set(&reason) },
		RewriteConversation: r.wantRewrite, Send: r.inbox.send, UseCompactor: r.compactor.set,
		UsePricer: r.pricer.set, Restore: r.counts.restore,
	}
	if r.from != nil {
		r.env.Resumed = r.from.id()
	}
	if r.hookRun, err = r.identity(req.ID); err != nil {
		return nil, err
	}
	r.env.Root = r.hookRun.Root()
	ctx = agentspec.WithEnv(context.WithValue(ctx, runKey{}, r), r.env)
	r.ctx = agentspec.WithRun(ctx, r.hookRun.ID())
	r.cleanupCtx = context.WithoutCancel(r.ctx)
	r.stream.of, r.stream.emit = r, orFunc(from.emit, req.Events)
	return r, nil
}

// checkOwner returns an error unless the names of the owner are valid UTF-8. For example, JSON has no other texts, so a
// suspended run of the user "\xff" would continue as a run of the user "\ufffd".
func checkOwner(req Request) error {
	for _, part := range []struct{ field, name string }{
		{"Tenant", req.Tenant}, {"User", req.User}, {"Conversation", req.Conversation},
	} {
		if !utf8.ValidString(part.name) {
			return fmt.Errorf("the %s %.70q is not valid UTF-8; encode it, for example with hex.EncodeToString", part.field,
				part.name)
		}
	}
	return nil
}

// inherit sets the model, the approver and the clock of a sub-run whose agent has none of its own.
func (r *run) inherit(outer *run, takesOver bool) {
	if outer != nil {
		r.depth, r.counts.outer, r.resumption = outer.depth+1, &outer.counts, outer.resumption
		if takesOver {
			r.inbox = outer.inbox
		}
		if isNil(r.model) {
			r.model = outer.model
		}
		if isNil(r.approver) {
			r.approver = outer.approver
		}
		if isNil(r.clock) {
			r.clock = outer.clock
		}
	}
	if isNil(r.clock) {
		r.clock = agent.SystemClock{}
	}
}

// validID reports whether an ID can be that of a run. Hooks use it in names of files.
func validID(id string) bool { return id != "" && len(id) <= 64 && toolName("", id) == id }

// identity returns the run of hookkit with the id that the caller gave, or a random one for "".
func (r *run) identity(id string) (*agent.Run, error) {
	switch {
	case id != "" && !validID(id):
		return nil, fmt.Errorf("agent %q: %.70q cannot be the ID of a run; use at most 64 letters, digits, - and _",
			r.agent.name(), id)
	case r.outer == nil && id == "":
		return agent.NewRun(r.env), nil
	case r.outer == nil:
		return hookkit.NewRunWithID(id, r.env), nil
	case id == "":
		return r.outer.hookRun.Child(r.env), nil
	}
	for outer := r.outer; outer != nil; outer = outer.outer {
		if outer.hookRun.ID() == id {
			return nil, fmt.Errorf("agent %q: the ID %q is that of a run that starts this one; use another", r.agent.name(), id)
		}
	}
	return r.outer.hookRun.ChildWithID(id, r.env), nil
}
