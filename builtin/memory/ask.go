package memory

import (
	"context"
	"encoding/json"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
)

// askForList asks a model for a JSON object with a list, and returns the list. The schema is that of its entries.
func askForList[T any](
	ctx context.Context, model agent.Model, name, schema, system, user string,
) ([]T, error) {
	whole := `{"type":"object","additionalProperties":false,"required":["` + name + `"],"properties":{"` + name +
		`":{"type":"array","items":` + schema + `}}}`
	var reply map[string][]T
	err := kit.Ask(ctx, model, &agent.ResponseFormat{
		Type: "json_schema", Name: name, Schema: json.RawMessage(whole), Strict: true,
	}, system, user, name, &reply)
	return reply[name], err
}
