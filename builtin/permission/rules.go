package permission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Rules decides by rules which calls may run.
//
// It votes at OnPermission (Deny, Ask, Allow), in the tier Safety. The first rule that matches the call decides;
// without one the Mode and the Default do. Among several hooks deny beats ask beats allow, by the law of the point, and
// an ask goes to the loop's approver, once, which has the loop's time limit; without an answer the call is denied. See
// [Remember] for answers that are kept.
//
// A predicate that cannot be evaluated matches where the rule denies and does not match where it asks or allows; a call
// that no rule decides after that is denied, whatever the Default. A Default other than Allow and Deny is Deny. A rule
// that could never be evaluated panics when the hook is used. State: per run, the last 1000 denials; a call that was
// asked about and declined is one.
type Rules struct {
	Rules   []Rule
	Default Decision    // "": Allow, reason "no rule matched"
	Mode    func() Mode // asked for each call; nil: ModeRules

	runs hookkit.PerRun[permissionState]
}

// permissionState is what a Permissions knows of one run.
type permissionState struct {
	denied []Denied
	step   int               // of the calls in asked
	asked  map[string]Denied // what a no to a call would be recorded as, by the call's ID
}

// Bounds of what is kept of denials.
const (
	maxDenials    = 1000
	maxDeniedArgs = 64 << 10
)

// A Rule decides the calls that it matches.
type Rule struct {
	Tool     string    // the name of the tool, in which "*" stands for any text
	Decision Decision  // required
	Args     Predicate // nil: any arguments
	Reason   string    // for the model and for records; "": that a rule decided
}

// A Decision is what a rule says of a call.
type Decision string

// The decisions of rules.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// A Mode says what becomes of calls that no rule decides, or of all.
type Mode string

// The modes.
const (
	ModeRules    Mode = ""          // the Default decides
	ModeAsk      Mode = "ask"       // they are asked about
	ModeReadOnly Mode = "read_only" // tools that do not say that they change nothing are denied, before any rule
	ModeDeny     Mode = "deny"      // they are denied
)

// A Denied is a call that a Permissions denied.
type Denied struct {
	Tool   string         `json:"tool"`
	Args   map[string]any `json:"args,omitempty"` // without keys that begin with two underscores; nil beyond 64 KiB
	Rule   *string        `json:"rule"`           // the Tool of the rule; nil if none matched
	Reason string         `json:"reason"`
}

// Bind adds the hook. A rule without a tool, with an unknown decision or with a predicate that cannot work panics.
func (p *Rules) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.Rules", p.check())
	h.OnPermission.Add(p, hookkit.Priority(hookkit.Safety))
	h.OnPermissionDenied.Add(p, hookkit.Priority(hookkit.Safety))
}

func (p *Rules) check() error {
	for i, r := range p.Rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("Rules[%d]: %w", i, err)
		}
	}
	return nil
}

func (r Rule) check() error {
	if r.Tool == "" {
		return errors.New(`Tool is empty; name a tool, "*" for all`)
	}
	if !slices.Contains([]Decision{Allow, Ask, Deny}, r.Decision) {
		return fmt.Errorf("Decision is %q; give allow, ask or deny", r.Decision)
	}
	if c, ok := r.Args.(interface{ check() error }); ok {
		return c.check()
	}
	return nil
}

// OnPermission votes.
func (p *Rules) OnPermission(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	v := p.decide(run, call)
	if v.decision == Allow {
		return agent.Allow{Reason: v.reason}, nil
	}
	denied := Denied{Tool: shorten.To(call.Name, toolname.MaxStored), Rule: v.rule, Reason: v.reason}
	if args, err := decodedArgs(call); err == nil && len(call.Args) <= maxDeniedArgs {
		maps.DeleteFunc(args, func(k string, _ any) bool { return strings.HasPrefix(k, "__") })
		denied.Args = args
	}
	if v.decision != Ask {
		p.runs.Do(run, func(s *permissionState) { s.add(denied) })
		return agent.Deny{Reason: v.reason}, nil
	}
	p.runs.Do(run, func(s *permissionState) {
		if s.step != call.Step || s.asked == nil {
			s.step, s.asked = call.Step, make(map[string]Denied)
		}
		s.asked[call.ID] = denied
	})
	return agent.Ask{Prompt: callText(call), Reason: v.reason}, nil
}

// OnPermissionDenied records a call that was asked about and declined.
func (p *Rules) OnPermissionDenied(_ context.Context, run *agent.Run, d agent.Denial) error {
	if d.Kind == agent.DeniedByVote || d.Kind == agent.DeniedByHook {
		return nil // the person was not asked
	}
	p.runs.Do(run, func(s *permissionState) {
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

func (s *permissionState) add(d Denied) {
	if s.denied = append(s.denied, d); len(s.denied) > maxDenials {
		s.denied = slices.Delete(s.denied, 0, 1)
	}
}

// verdict is what was decided of a call, by which rule, and why.
type verdict struct {
	decision Decision
	rule     *string
	reason   string
}

func (p *Rules) decide(run *agent.Run, call agent.ToolCallRequest) verdict {
	mode := ModeRules
	if p.Mode != nil {
		mode = p.Mode()
	}
	if mode == ModeReadOnly && !saysReadOnly(run, call.Name) {
		return verdict{Deny, nil, fmt.Sprintf("only tools that change nothing may run now, and %s does not say so", shorten.To(call.Name, toolname.MaxDisplay))}
	}
	var broken error
	for i := range p.Rules {
		r := &p.Rules[i]
		if !toolname.Wildcard(r.Tool, call.Name) {
			continue
		}
		matches, err := r.matches(call)
		if err != nil && r.Decision != Deny {
			broken = fmt.Errorf("a rule for %s could not be evaluated: %w", r.Tool, err)
			continue
		}
		if !matches && err == nil {
			continue
		}
		reason := r.Reason
		if reason == "" {
			reason = "a rule for " + r.Tool + " says " + string(r.Decision)
		}
		return verdict{r.Decision, &r.Tool, reason}
	}
	const unmatched = "no rule matched"
	switch {
	case broken != nil:
		return verdict{Deny, nil, broken.Error()}
	case mode == ModeAsk:
		return verdict{Ask, nil, unmatched}
	case (mode == ModeRules || mode == ModeReadOnly) && (p.Default == "" || p.Default == Allow):
		return verdict{Allow, nil, unmatched}
	}
	return verdict{Deny, nil, unmatched}
}

// matches reports whether the rule's predicate holds. A predicate that panics fails.
func (r Rule) matches(call agent.ToolCallRequest) (bool, error) {
	if r.Args == nil {
		return true, nil
	}
	match := r.Args.Match
	if g, ok := r.Args.(interface {
		every(agent.ToolCallRequest) (bool, error)
	}); ok && r.Decision == Allow {
		match = g.every
	}
	return kit.Recover(func() (bool, error) { return match(call) })
}

// Denials returns a copy of what was denied in the run so far, in order.
func (p *Rules) Denials(run *agent.Run) (denied []Denied) {
	p.runs.Do(run, func(s *permissionState) { denied = slices.Clone(s.denied) })
	for i := range denied {
		denied[i].Args = maps.Clone(denied[i].Args)
	}
	return denied
}

// decodedArgs returns the arguments of a call, which must be a JSON object or nothing. An argument that comes twice, in
// whatever case, is an error: which of the two a tool would take cannot be told.
func decodedArgs(call agent.ToolCallRequest) (map[string]any, error) {
	args := map[string]any{}
	if len(bytes.TrimSpace(call.Args)) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return nil, fmt.Errorf("the arguments are no JSON object: %w", err)
	}
	if args == nil {
		return nil, errors.New("the arguments are null, no JSON object")
	}
	given, _ := jsonx.Members(call.Args, -1)
	seen := make(map[string]bool, len(given))
	for _, m := range given {
		key := shorten.FoldCase(m.Key)
		if seen[key] {
			return nil, fmt.Errorf("the argument %q comes twice", shorten.To(m.Key, toolname.MaxStored))
		}
		seen[key] = true
	}
	return args, nil
}
