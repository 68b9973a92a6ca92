package permission

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Policy submits every call to an external policy engine, for example a service that all agents of a company share.
//
// Points: OnPermission (Deny). Tier: Safety. State: none.
//
// If the engine denies a call, the model receives the first reason: "guardrail denied (code): tool 'x'. message",
// followed by the policy's ID if there is one. Without reasons the code is "denied". If the engine allows a call, the
// hook does not vote, so another hook can still deny it.
//
// If the provider fails or panics, the error is reported to OnError and the call is denied with "guardrail provider
// error". The run waits for the provider, so the provider should set a timeout of its own.
type Policy struct {
	// Provider decides. Required.
	Provider PolicyProvider
	// FailOpen lets calls run if the provider fails. By default such calls are denied.
	FailOpen bool
	// OnError receives the errors of the provider. Nil: they are logged with slog. It must be safe for concurrent use.
	OnError func(error)

	reporter kit.Reporter
}

// A PolicyProvider connects [Policy] to a policy engine. It must be safe for concurrent use.
type PolicyProvider interface {
	// Evaluate decides about a call. An error counts as a denial, unless FailOpen is set.
	Evaluate(ctx context.Context, request PolicyRequest) (PolicyDecision, error)
}

// A PolicyRequest describes a call for a policy engine. Its JSON form is meant to be sent to a service.
type PolicyRequest struct {
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args,omitempty"` // a copy of the arguments, after all rewrites
	Agent string          `json:"agent,omitempty"`
	Run   string          `json:"run,omitempty"` // the ID of the run
	Time  time.Time       `json:"time"`          // from the clock of the run
}

// A PolicyDecision is the answer of a policy engine. The zero value denies.
type PolicyDecision struct {
	Allow    bool           `json:"allow"`
	Reasons  []PolicyReason `json:"reasons,omitempty"`
	PolicyID string         `json:"policy_id,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"` // for other callers of the provider; Policy ignores it
}

// A PolicyReason explains a decision to the model.
type PolicyReason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Bind adds the hook. It panics if Provider is nil.
func (p *Policy) Bind(h *agent.Hooks) {
	if p.Provider == nil {
		kit.MustConfig("permission.Policy", errors.New("Provider is nil, so nothing could be decided; give one"))
	}
	h.OnPermission.Add(p, hookkit.Priority(hookkit.Safety))
}

// OnPermission denies the call if the provider does.
func (p *Policy) OnPermission(ctx context.Context, run *agent.Run,
	call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	decision, err := kit.Recover(func() (PolicyDecision, error) {
		return p.Provider.Evaluate(ctx, PolicyRequest{
			Tool: call.Name, Args: slices.Clone(call.Args), Agent: kit.Agent(run), Run: run.ID(), Time: kit.Env(run).Now(),
		})
	})
	if err != nil {
		p.reporter.Report("permission.Policy", p.OnError,
			fmt.Errorf("policy check of tool %q: %w", shorten.To(call.Name, toolname.MaxDisplay), err))
		if p.FailOpen {
			return nil, nil
		}
		return agent.Deny{Reason: "guardrail provider error"}, nil
	}
	if decision.Allow {
		return nil, nil
	}
	return agent.Deny{Reason: decision.reason(call.Name)}, nil
}

// reason returns the text of a denial.
func (d PolicyDecision) reason(tool string) string {
	first := append(slices.Clip(d.Reasons), PolicyReason{})[0]
	text := fmt.Sprintf("guardrail denied (%s): tool '%s'.", cmp.Or(first.Code, "denied"),
		shorten.To(tool, toolname.MaxDisplay))
	if first.Message != "" {
		text += " " + first.Message
	}
	if d.PolicyID != "" {
		text += fmt.Sprintf(" (policy %s)", d.PolicyID)
	}
	return text
}
