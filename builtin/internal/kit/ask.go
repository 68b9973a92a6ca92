package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/generated/agent"
)

// Ask asks a model for a JSON object, and decodes the object of its reply into reply. An error means that the model
// failed or panicked, or that its reply cannot be read, see [ReadReply].
func Ask(
	ctx context.Context, model agent.Model, format *agent.ResponseFormat, system, user, needed string, reply any,
) error {
	if model == nil {
		return errors.New("there is no model to ask; set Model")
	}
	said, err := Recover(func() (agent.LLMResponse, error) {
		return model.Generate(ctx, agent.LLMRequest{ResponseFormat: format, Messages: []agent.Message{
			{Role: agent.RoleSystem, Content: system}, {Role: agent.RoleUser, Content: user},
		}})
	})
	if err != nil {
		return err
	}
	if err := ReadReply(said.Content, needed, reply); err != nil {
		return fmt.Errorf("the reply %q cannot be read: %w", shorten.To(said.Content, 100), err)
	}
	return nil
}

// ReadReply decodes the reply of a model: one JSON object, or a text with one code fence that holds the object. Other
// text around the object is an error, so that a model that quotes an answer does not give it. So is a key that occurs
// twice, and a missing or null value of the key needed.
func ReadReply(text, needed string, reply any) error {
	if _, fenced, ok := strings.Cut(text, "```"); ok {
		inner, after, closed := strings.Cut(fenced, "```")
		if !closed || strings.Contains(after, "```") {
			return errors.New("it has not one code fence that is closed")
		}
		text = strings.TrimPrefix(inner, "json")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return fmt.Errorf("it is not one JSON object: %w", err)
	}
	if name, twice := toolargs.Duplicate([]byte(text)); twice {
		return fmt.Errorf("the key %q occurs twice", name)
	}
	if v := members[needed]; v == nil || string(v) == "null" {
		return fmt.Errorf("it has no %q", needed)
	}
	return json.Unmarshal([]byte(text), reply)
}
