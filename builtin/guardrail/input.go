package guardrail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Input refuses a run by its task. For example, Block: []string{"password"} refuses the task "Show me Bob's Password",
// and a [Judge] in Validators refuses texts that a model finds unfit.
//
// Points: OnRunStart (Replace, EndTurn), AroundLLM, AfterLLM (EndTurn), OnRunEnd. Tier: Safety. State: per run, the
// verdict that is awaited.
//
// If Allow is not nil and none of its patterns matches, the run is refused with the reason "not in allowlist". Then the
// first matching pattern of Block refuses the run with the reason "blocklist match: pattern". No pattern matches an
// empty task.
//
// Then the validators check the task. A rejection refuses the run with the reason "task validation: " and its text;
// a changed text replaces the task. They run before the first model call. With Beside they run at the same time as that
// call, which saves their time: its reply is held back until they have decided, so that no tool runs, nothing of the
// reply is shown and no result is returned before. A rejection cancels the call. A changed text is ignored. An error of
// a validator ends the run as failed.
//
// The hook checks only the task, not the preceding messages or the arguments of tools. Hooks of a lower priority can
// still replace the task after this check.
type Input struct {
	// Block are the patterns that refuse a run. Block, Allow or Validators is required.
	Block []string
	// Allow are patterns of which one must match. Nil: no such check. An empty list that is not nil refuses every run.
	Allow []string
	// Reply is the reply of a refused run. "": "I can't help with that."
	Reply string
	// Match reports whether a pattern matches a text, for example regexp.MatchString. Nil: the text contains the pattern,
	// compared without case. An error ends the run as failed. Match must be safe for concurrent use.
	Match func(pattern, text string) (bool, error)
	// Validators check the task; see [ValidatorFunc], [Judge] and [Schema]. They get a call without a name.
	Validators []Validator
	Beside     bool // run the validators beside the first model call instead of before it

	awaited hookkit.PerRun[*verdict]
}

// A verdict is that of validators that run beside the model.
type verdict struct {
	done      chan struct{} // closed when the fields below are set
	stop      context.CancelFunc
	rejection string
	err       error
}

// Bind adds the hook. It panics if nothing would be checked, a pattern is empty or a validator is invalid.
func (g *Input) Bind(h *agent.Hooks) {
	kit.MustConfig("guardrail.Input", g.check())
	h.OnRunStart.Add(g, hookkit.Priority(hookkit.Safety))
	if g.Beside {
		h.AroundLLM.AddFunc(g.around, hookkit.Priority(hookkit.Safety), hookkit.Named("guardrail.Input"))
		h.AfterLLM.AddFunc(g.hold, hookkit.Priority(hookkit.Safety), hookkit.Named("guardrail.Input"))
		h.OnRunEnd.Add(agent.OnRunEndFunc(g.end), hookkit.Named("guardrail.Input"))
	}
}

func (g *Input) check() error {
	if len(g.Block) == 0 && g.Allow == nil && len(g.Validators) == 0 {
		return errors.New("there are neither a Block nor an Allow list nor Validators, so nothing would be checked; give one")
	}
	if g.Beside && len(g.Validators) == 0 {
		return errors.New("Beside is set, but there are no Validators to run beside the model; give some")
	}
	return errors.Join(toolname.Check("Block", g.Block), toolname.Check("Allow", g.Allow), checkAll(g.Validators))
}

// OnRunStart ends the run if the lists or the validators exclude its task.
func (g *Input) OnRunStart(
	ctx context.Context, run *agent.Run, start agent.RunStart,
) (agent.OnRunStartOutcome, error) {
	match := g.Match
	if match == nil {
		task := shorten.FoldCase(start.Task)
		match = func(pattern, _ string) (bool, error) {
			return strings.Contains(task, shorten.FoldCase(pattern)), nil
		}
	}
	allowed, err := firstMatch(match, g.Allow, start.Task)
	if err == nil && g.Allow != nil && allowed == "" {
		return g.refuse("not in allowlist"), nil
	}
	blocked := ""
	if err == nil {
		blocked, err = firstMatch(match, g.Block, start.Task)
	}
	switch {
	case err != nil:
		return nil, err
	case blocked != "":
		return g.refuse("blocklist match: " + blocked), nil
	case len(g.Validators) == 0 || start.Resumed != "": // a resumed run was checked when it began
		return nil, nil
	case g.Beside:
		g.begin(ctx, run, start.Task)
		return nil, nil
	}
	task, rejection, err := validate(ctx, g.Validators, start.Task)
	switch {
	case err != nil:
		return nil, err
	case rejection != "":
		return g.refuse(taskRejected + rejection), nil
	case task != start.Task:
		start.Task = task
		return agent.ReplaceOnRunStart(start, "task changed"), nil
	}
	return nil, nil
}

// taskRejected precedes the rejection of a validator.
const taskRejected = "task validation: "

// begin starts the validators beside the model.
func (g *Input) begin(ctx context.Context, run *agent.Run, task string) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // the context of this hook may end with its call
	v := &verdict{done: make(chan struct{}), stop: stop}
	g.awaited.Do(run, func(at **verdict) { *at = v })
	go func() {
		defer close(v.done)
		v.rejection, v.err = kit.Recover(func() (string, error) {
			_, rejection, err := validate(ctx, g.Validators, task)
			return rejection, err
		})
	}()
}

// wait waits for the verdict, and returns an error unless the run may continue.
func (v *verdict) wait(ctx context.Context) error {
	if v == nil {
		return nil
	}
	select {
	case <-v.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if v.rejection != "" && v.err == nil {
		return errRejected
	}
	return v.err
}

// errRejected is the error of a verdict that rejects the task, and the cause of the cancelled call.
var errRejected = errors.New("the task is rejected")

// around holds back the reply of the model, and cancels the call if the verdict comes first and rejects the task.
func (g *Input) around(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (hookkit.Answer[agent.LLMResponse], error) {
	v := g.awaited.Load(run)
	if v == nil {
		return next.Call(ctx, req)
	}
	called, cancel := context.WithCancelCause(agentspec.WithHold(ctx, v.wait))
	defer cancel(nil)
	go func() {
		if err := v.wait(called); err != nil {
			cancel(err)
		}
	}()
	answer, err := next.Call(called, req)
	if cause := context.Cause(called); err != nil && cause != nil && ctx.Err() == nil {
		if cause == errRejected { //nolint:errorlint // never wrapped
			return hookkit.Answered(agent.LLMResponse{}), nil // hold ends the turn
		}
		return answer, cause
	}
	return answer, err
}

// hold waits for the verdict before anything is made of a reply.
func (g *Input) hold(ctx context.Context, run *agent.Run, _ agent.LLMResponse) (agent.AfterLLMOutcome, error) {
	v := g.awaited.Load(run)
	err := v.wait(ctx)
	if err == errRejected { //nolint:errorlint // never wrapped
		return g.refuse(taskRejected + v.rejection), nil
	}
	return nil, err
}

// end stops validators whose verdict nobody needs.
func (g *Input) end(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
	g.awaited.Do(run, func(at **verdict) {
		if *at != nil {
			(*at).stop()
		}
	})
	return nil
}

func (g *Input) refuse(reason string) agent.EndTurn {
	return agent.EndTurn{Reply: cmp.Or(g.Reply, "I can't help with that."), Reason: reason}
}

// firstMatch returns the first pattern that matches, or "".
func firstMatch(match func(pattern, text string) (bool, error), patterns []string, text string) (string, error) {
	for _, p := range patterns {
		ok, err := match(p, text)
		if err != nil {
			return "", fmt.Errorf("pattern %q: the match failed: %w", p, err)
		}
		if ok {
			return p, nil
		}
	}
	return "", nil
}
