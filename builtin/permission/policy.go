package permission

import (
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

// Policy asks a policy engine about every call.
//
// Points: OnPermission (Deny). Tier: Safety. State: none.
//
// An allowed call gets no opinion, so that another hook can still deny it. A denied one gets the first reason:
// "guardrail denied (code): tool 'x'. message", and the policy's name where it has one. Without reasons the code is
// "denied". A provider that fails or panics denies with "guardrail provider error", and what went wrong is reported;
// with FailOpen it is reported alone. A provider that takes its time holds up the run: let it heed its
// context, and give it a limit by a context of its own.
type Policy struct {
	// Provider decides. Required.
	Provider PolicyProvider
	// FailOpen lets a call pass about which the provider failed. The zero value denies it.
	FailOpen bool
	// OnError is told of a provider that failed; nil: it is logged by slog. It must be safe for concurrent use.
	OnError func(error)

	failed kit.Reporter
}

// A PolicyProvider decides about calls. It must be safe for concurrent use.
type PolicyProvider interface {
	Evaluate(ctx context.Context, request PolicyRequest) (PolicyDecision, error)
}

// A PolicyRequest is a call that a policy decides about.
type PolicyRequest struct {
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args,omitempty"` // a copy; as the call would be dispatched
	Agent string          `json:"agent,omitempty"`
	Run   string          `json:"run,omitempty"`
	Time  time.Time       `json:"time"` // by the run's clock
}

// A PolicyDecision is what a policy decided. The zero value denies.
type PolicyDecision struct {
	Allow    bool           `json:"allow"`
	Reasons  []PolicyReason `json:"reasons,omitempty"`
	PolicyID string         `json:"policy_id,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"` // for whoever calls the provider; not looked at here
}

// A PolicyReason is why a policy decided as it did.
type PolicyReason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Bind adds the hook to OnPermission.
func (p *Policy) Bind(h *agent.Hooks) {
	if p.Provider == nil {
		kit.MustConfig("permission.Policy", errors.New("Provider is nil, so nothing could be decided; give one"))
	}
	h.OnPermission.Add(p, hookkit.Priority(hookkit.Safety))
}

// OnPermission asks the provider.
func (p *Policy) OnPermission(ctx context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	id, _ := kit.Identity(run)
	decision, err := p.evaluate(ctx, PolicyRequest{
		Tool: call.Name, Args: slices.Clone(call.Args), Agent: kit.Agent(run), Run: id, Time: kit.Env(run).Now(),
	})
	if err != nil {
		p.failed.Report("permission.Policy", p.OnError, fmt.Errorf("policy check of tool %q: %w", shorten.To(call.Name, toolname.MaxDisplay), err))
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

// evaluate asks the provider. A panic of it is an error.
func (p *Policy) evaluate(ctx context.Context, request PolicyRequest) (decision PolicyDecision, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &hookkit.PanicError{Value: v}
		}
	}()
	return p.Provider.Evaluate(ctx, request)
}

// reason words a denial.
func (d PolicyDecision) reason(tool string) string {
	code, message := "denied", ""
	if len(d.Reasons) > 0 {
		message = d.Reasons[0].Message
		if d.Reasons[0].Code != "" {
			code = d.Reasons[0].Code
		}
	}
	text := fmt.Sprintf("guardrail denied (%s): tool '%s'.", code, shorten.To(tool, toolname.MaxDisplay))
	if message != "" {
		text += " " + message
	}
	if d.PolicyID != "" {
		text += fmt.Sprintf(" (policy %s)", d.PolicyID)
	}
	return text
}
