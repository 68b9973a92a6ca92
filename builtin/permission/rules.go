package permission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Rules allows, asks about or denies each call by the first rule that matches it. For example, with the rules "allow
// read_*", "deny shell" and "ask *" an agent reads freely and never runs a shell. A person decides about all other
// calls.
//
// Points: OnPermission (Deny, Ask, Allow), OnPermissionGranted, OnPermissionDenied. Tier: Safety. State: the last 1000
// denials, per run, including calls that a person declined; the last 1000 rules that answers asked to remember.
//
// If no rule matches, Default decides. If several hooks vote, deny beats ask and ask beats allow. The loop's
// approver answers an ask once, within the loop's time limit; without an answer the call is denied. Use [Remember] to
// avoid repeated questions.
//
// An answer can carry rules to remember, for example "allow git status from now on". They are rules in the format of
// [ParseRules] and count for the conversation, or as far as Share says. A remembered rule decides about calls that the
// List would ask about or allow. It never permits a call that the List denies. Invalid rules are reported, and none of
// the answer is kept.
//
// A predicate can fail, for example because an argument has the wrong type. If the rule denies, a failure counts as a
// match. If the rule asks or allows, the rule is skipped, and the call is denied unless a later rule matches.
type Rules struct {
	List    []Rule   // in order of evaluation; it must not change while the hook is in use
	Default Decision // for calls that no rule matches; "": Allow. A value that is no decision denies

	Conditions []FileCondition // of remembered rules, besides "path" and "when"
	Share      share.Scope     // the runs for which remembered rules count

	runs       hookkit.PerRun[ruleState]
	remembered rememberedRules
}

// ruleState holds the denials of a run.
type ruleState struct {
	denied []Denied
	step   int               // of the calls in asked
	asked  map[string]Denied // the records to add if a person declines, by the ID of the call
}

const (
	maxDenials    = 1000     // recorded per run
	maxDeniedArgs = 64 << 10 // bytes of recorded arguments per denial
)

// A Rule decides about the calls that it matches.
type Rule struct {
	Tool     string    // the name of the tool, in which "*" matches any text; required
	Decision Decision  // required
	Args     Predicate // a condition on the arguments; nil: any arguments
	Reason   string    // for the model and for records; "": a text that names the rule

	Choices []agent.Choice // the answers that a person may give if the decision is Ask; none: all
}

// A Decision is the effect of a rule on a call.
type Decision string

// The decisions of rules.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// A Denied records a call that [Rules] denied or a person declined.
type Denied struct {
	Tool   string         `json:"tool"`
	Args   map[string]any `json:"args,omitempty"` // without keys that begin with two underscores; nil beyond 64 KiB
	Rule   *string        `json:"rule"`           // the Tool of the rule; nil if no rule matched
	Reason string         `json:"reason"`
}

// Bind adds the hook. It panics if a rule has no tool, an unknown decision or an invalid predicate.
func (p *Rules) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.Rules", p.check())
	h.OnPermissionGranted.Add(p, hookkit.Priority(hookkit.Safety))
	h.OnPermissionDenied.Add(p, hookkit.Priority(hookkit.Safety))
	var names []kit.ToolName
	for i, r := range p.List {
		names = append(names, kit.ToolName{At: fmt.Sprintf("List[%d].Tool", i), Name: r.Tool})
		if w, ok := r.Args.(interface{ Warning() string }); ok && r.Decision == Allow && w.Warning() != "" {
			slog.Warn("hookgen: a rule allows more than it names", "hook", "permission.Rules", "at",
				fmt.Sprintf("List[%d].Args", i), "warning", w.Warning())
		}
	}
	kit.WatchTools("permission.Rules", names...).OnPermission(h, p, hookkit.Priority(hookkit.Safety))
}

func (p *Rules) check() error {
	if err := p.Share.Check(); err != nil {
		return err
	}
	for i, r := range p.List {
		if err := r.check(); err != nil {
			return fmt.Errorf("List[%d]: %w", i, err)
		}
	}
	return nil
}

func (r Rule) check() error {
	if r.Tool == "" {
		return errors.New(`Tool is empty; name a tool, or give "*" for all tools`)
	}
	if !slices.Contains([]Decision{Allow, Ask, Deny}, r.Decision) {
		return fmt.Errorf("Decision is %q; give allow, ask or deny", r.Decision)
	}
	if c, ok := r.Args.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return err
		}
	}
	return agentspec.CheckChoices(r.Choices)
}

// OnPermission votes for the decision of the rules, and records a denial.
func (p *Rules) OnPermission(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome,
	error) {
	v := p.decide(call)
	if v.decision != Deny {
		if r, _ := firstMatch(p.remembered.of(run, p.Share), call); r != nil {
			v = r.verdict()
		}
	}
	if v.decision == Allow {
		return agent.Allow{Reason: v.reason}, nil
	}
	denied := Denied{Tool: shorten.To(call.Name, toolname.MaxStored), Rule: v.rule, Reason: v.reason}
	if args, err := toolargs.Decode(call); err == nil && len(call.Args) <= maxDeniedArgs {
		maps.DeleteFunc(args, func(k string, _ any) bool { return strings.HasPrefix(k, "__") })
		denied.Args = args
	}
	if v.decision != Ask {
		p.runs.Do(run, func(s *ruleState) { s.add(denied) })
		return agent.Deny{Reason: v.reason}, nil
	}
	p.runs.Do(run, func(s *ruleState) {
		if s.step != call.Step || s.asked == nil {
			s.step, s.asked = call.Step, make(map[string]Denied)
		}
		s.asked[call.ID] = denied
	})
	return agent.Ask{Prompt: callText(call), Reason: v.reason, Choices: v.choices}, nil
}

// OnPermissionDenied records the denial if a person declined the call, or did not answer.
func (p *Rules) OnPermissionDenied(_ context.Context, run *agent.Run, d agent.Denial) error {
	if d.Kind == agent.DeniedByVote || d.Kind == agent.DeniedByHook {
		return nil // no person was asked
	}
	p.runs.Do(run, func(s *ruleState) {
		denied, ok := s.asked[d.Call.ID]
		if !ok || s.step != d.Call.Step {
			return
		}
		delete(s.asked, d.Call.ID)
		denied.Reason = d.Reason
		s.add(denied)
	})
	return nil
}

func (s *ruleState) add(d Denied) {
	if s.denied = append(s.denied, d); len(s.denied) > maxDenials {
		s.denied = slices.Delete(s.denied, 0, 1)
	}
}

// A verdict is the decision on a call, with its explanation.
type verdict struct {
	decision Decision
	rule     *string // nil if no rule matched
	reason   string
	choices  []agent.Choice // of a person
}

func (p *Rules) decide(call agent.ToolCallRequest) verdict {
	r, failure := firstMatch(p.List, call)
	switch {
	case r != nil:
		return r.verdict()
	case failure != nil:
		return verdict{decision: Deny, reason: failure.Error()}
	}
	decision := cmp.Or(p.Default, Allow)
	if decision != Allow && decision != Ask {
		decision = Deny
	}
	return verdict{decision: decision, reason: "no rule matched"}
}

// firstMatch returns the first rule that matches a call, or nil. The error is that of a rule that could not be
// evaluated and does not deny.
func firstMatch(rules []Rule, call agent.ToolCallRequest) (match *Rule, failure error) {
	for i := range rules {
		r := &rules[i]
		if !toolname.Wildcard(r.Tool, call.Name) {
			continue
		}
		matches, err := r.matches(call)
		if err != nil && r.Decision != Deny {
			failure = fmt.Errorf("a rule for %s could not be evaluated: %w", r.Tool, err)
			continue
		}
		if matches || err != nil {
			return r, nil
		}
	}
	return nil, failure
}

func (r *Rule) verdict() verdict {
	reason := r.Reason
	if reason == "" {
		reason = "a rule for " + r.Tool + " says " + string(r.Decision)
	}
	return verdict{r.Decision, &r.Tool, reason, r.Choices}
}

// matches reports whether the rule's predicate holds. It returns an error if the predicate fails or panics.
func (r Rule) matches(call agent.ToolCallRequest) (bool, error) {
	if r.Args == nil {
		return true, nil
	}
	match := r.Args.Match
	if every, ok := r.Args.(EveryPredicate); ok && r.Decision == Allow {
		match = every.MatchEvery
	}
	return kit.Recover(func() (bool, error) { return match(call) })
}

// Denials returns the last 1000 denials of the run, the oldest first. The caller owns the result.
func (p *Rules) Denials(run *agent.Run) (denied []Denied) {
	p.runs.Do(run, func(s *ruleState) { denied = slices.Clone(s.denied) })
	for i := range denied {
		denied[i].Args = maps.Clone(denied[i].Args)
	}
	return denied
}
