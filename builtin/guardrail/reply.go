package guardrail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Reply validates and rewrites the replies of an agent to a person, for example to remove personal data, or to withhold
// a reply that names an internal project.
//
// Points: CheckDone (Replace, RejectDone), BeforeRunEnd (Replace). Tier: Mutation−10, after other hooks changed the
// text. State: none.
//
// An answer passes the validators at CheckDone. A rejection sends the reason to the model, which tries again within
// the limit of the loop. A changed answer is stored as changed. Not every reply is an answer: it can come from
// EndTurn, from an agent that took over, or be the last rejected answer. Therefore the Reply of the result and the
// texts of the assistant in its Messages pass the validators once more at BeforeRunEnd. A rejected text is replaced by
// Instead there. If a validator returns an error, CheckDone rejects the answer, and BeforeRunEnd withholds the whole
// result.
//
// Validators get a call without a name. BeforeRunEnd changes the result, not the stored conversation, which the model
// and session.Persist use; nor the details of stop signals, which contain the last rejected answer. A stream yields
// pieces of a reply before any hook has seen them.
type Reply struct {
	Validators []Validator // required
	Instead    string      // the text instead of a rejected one; "": "This reply was withheld."
}

// Bind adds the hook to its points. It panics if Validators is empty or contains an invalid validator.
func (v *Reply) Bind(h *agent.Hooks) {
	err := checkAll(v.Validators)
	if len(v.Validators) == 0 {
		err = errors.New("Validators is empty, so every reply would pass; give one, such as RedactPersonal()")
	}
	kit.MustConfig("guardrail.Reply", err)
	h.CheckDone.Add(v, hookkit.Priority(hookkit.Mutation-10))
	h.BeforeRunEnd.Add(v, hookkit.Priority(hookkit.Mutation-10))
}

// CheckDone passes an answer through the validators.
func (v *Reply) CheckDone(ctx context.Context, _ *agent.Run, done agent.DoneRequest) (agent.CheckDoneOutcome, error) {
	text, rejection, err := validate(ctx, v.Validators, done.Answer)
	switch {
	case err != nil:
		return nil, err
	case rejection != "":
		return agent.RejectDone{Feedback: "the answer cannot be shown: " + rejection, Reason: "reply validation"}, nil
	case text == done.Answer:
		return nil, nil
	}
	done.Answer = text
	return agent.ReplaceCheckDone(done, "answer changed"), nil
}

// BeforeRunEnd passes the reply and the texts of the assistant through the validators.
func (v *Reply) BeforeRunEnd(
	ctx context.Context, _ *agent.Run, result agent.AgentResult,
) (agent.BeforeRunEndOutcome, error) {
	reply, err := v.shown(ctx, result.Reply)
	if err != nil {
		return nil, err
	}
	changed := reply != result.Reply
	result.Reply = reply
	messages := slices.Clone(result.Messages)
	for i, m := range messages {
		if m.Role != agent.RoleAssistant {
			continue
		}
		if messages[i].Content, err = v.shown(ctx, m.Content); err != nil {
			return nil, err
		}
		changed = changed || messages[i].Content != m.Content
	}
	if !changed {
		return nil, nil
	}
	result.Messages = messages
	return agent.ReplaceBeforeRunEnd(result, "reply changed"), nil
}

// shown returns a text as the validators accept it, or Instead.
func (v *Reply) shown(ctx context.Context, text string) (string, error) {
	instead := cmp.Or(v.Instead, "This reply was withheld.")
	if text == "" || text == instead {
		return text, nil
	}
	text, rejection, err := validate(ctx, v.Validators, text)
	if err == nil && rejection != "" {
		text = instead
	}
	return text, err
}

// validate passes a text through validators that get no call.
func validate(ctx context.Context, validators []Validator, text string) (accepted, rejection string, err error) {
	for i, one := range validators {
		text, rejection, err = one.Validate(ctx, agent.ToolCallRequest{}, text)
		if err != nil {
			return "", "", fmt.Errorf("validator %d (%T): %w", i, one, err)
		}
		if rejection != "" {
			return "", rejection, nil
		}
	}
	return text, "", nil
}
