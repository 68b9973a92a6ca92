package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// askForList asks a model for a JSON object with a list, and returns the list. The schema is that of its entries.
func askForList[T any](
	ctx context.Context, model agent.Model, name, schema, system, user string,
) ([]T, error) {
	whole := `{"type":"object","additionalProperties":false,"required":["` + name + `"],"properties":{"` + name +
		`":{"type":"array","items":` + schema + `}}}`
	reply, err := kit.Recover(func() (agent.LLMResponse, error) {
		return model.Generate(ctx, agent.LLMRequest{
			Messages: []agent.Message{{Role: agent.RoleSystem, Content: system}, {Role: agent.RoleUser, Content: user}},
			ResponseFormat: &agent.ResponseFormat{
				Type: "json_schema", Name: name, Schema: json.RawMessage(whole), Strict: true,
			},
		})
	})
	if err != nil {
		return nil, err
	}
	list, err := readList[T](name, reply.Content)
	if err != nil {
		return nil, fmt.Errorf("the reply %q cannot be read: %w", shorten.To(reply.Content, 100), err)
	}
	return list, nil
}

// readList parses the JSON object in the model's reply, which may be in a code fence.
func readList[T any](name, text string) ([]T, error) {
	begin, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if begin < 0 || end < begin {
		return nil, errors.New("there is no JSON object")
	}
	var reply map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text[begin:end+1]), &reply); err != nil {
		return nil, err
	}
	if reply[name] == nil {
		return nil, fmt.Errorf("there is no %q", name)
	}
	var list []T
	err := json.Unmarshal(reply[name], &list)
	return list, err
}
