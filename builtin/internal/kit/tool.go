package kit

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Tool is a tool with which a model uses a hook. Its arguments are decoded into an Args.
type Tool[Args any] struct {
	Described agent.ToolSchema
	Run       func(ctx context.Context, args Args) (string, error)
}

// Schema implements agent.Tool.
func (t Tool[Args]) Schema() agent.ToolSchema { return t.Described }

// Call implements agent.Tool.
func (t Tool[Args]) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	args, err := ReadArgs[Args](call)
	if err != nil {
		return "", err
	}
	return t.Run(ctx, args)
}

// maxToolArgs bounds the arguments of such a tool in bytes.
const maxToolArgs = 64 << 10

// ReadArgs decodes the arguments of a call. Its error says to the model that they cannot be read.
func ReadArgs[Args any](call agent.ToolCallRequest) (args Args, err error) {
	if len(call.Args) > maxToolArgs {
		err = errors.New("the arguments are too long")
	} else {
		err = json.Unmarshal(call.Args, &args)
	}
	if err != nil {
		err = &agent.ToolError{
			Kind: agent.FailArguments, Message: "the arguments cannot be read: " + err.Error(), Cause: err,
		}
	}
	return args, err
}
