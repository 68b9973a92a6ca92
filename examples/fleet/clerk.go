package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A clerk is the agent of this program. It works on tasks such as "pay 8 orders, 2 at a time". Instead of a model it
// has a few lines of Go that read the conversation, so that the program needs no key. Put your agent here.
type clerk struct {
	ledger string        // the file that has a line for each payment; "": none
	takes  time.Duration // the time that a payment takes at most
}

// agent returns the agent.
func (c clerk) agent() *loop.Agent {
	return &loop.Agent{
		Name: "clerk", Model: c, Approver: fleet.Later{},
		Tools: []agent.Tool{
			loop.Tool("pay", "Pays an order. The effect cannot be taken back.", c.pay),
			loop.ReadOnly(loop.Tool("look", "Looks an order up.", c.look)),
		},
		// This model answers at once. While no service of remote hooks runs, each step is refused within milliseconds.
		Limits: loop.Limits{Steps: 2000},
	}
}

type order struct {
	Order string `json:"order"`
}

func (c clerk) pause(ctx context.Context) error {
	if c.takes <= 0 {
		return ctx.Err()
	}
	return agent.SystemClock{}.Sleep(ctx, rand.N(c.takes))
}

// pay pays an order. The payment happens in the middle of the call, so a worker may be killed before or after it.
func (c clerk) pay(ctx context.Context, o order) (string, error) {
	if err := c.pause(ctx); err != nil {
		return "", err
	}
	if c.ledger != "" {
		if err := appendLine(c.ledger, o.Order); err != nil {
			return "", err
		}
	}
	if err := c.pause(ctx); err != nil {
		return "", err
	}
	return "paid " + o.Order, nil
}

func (c clerk) look(_ context.Context, o order) (string, error) { return "open " + o.Order, nil }

// appendLine adds a line to a file, whole or not at all.
func appendLine(name, line string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	return err
}

// Generate calls pay for the next orders that are not paid, until all are paid. An order is paid if its call has not
// failed, whatever the output says: it may be the words of a person.
func (c clerk) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	reply := agent.LLMResponse{Usage: agent.Usage{Input: 20, Output: 20}}
	var orders, together int
	paid, asked := make(map[string]bool), make(map[string]string) // the orders of calls
	for _, m := range req.Messages {
		for _, call := range m.ToolCalls {
			var o order
			if err := json.Unmarshal(call.Args, &o); err != nil {
				return reply, err
			}
			asked[call.ID] = o.Order
		}
		if m.Role == agent.RoleUser && orders == 0 {
			_, _ = fmt.Sscanf(m.Content, "pay %d orders, %d at a time", &orders, &together)
		}
		if m.Role == agent.RoleTool && !m.IsError {
			paid[asked[m.ToolCallID]] = true
		}
	}
	if c.ledger != "" {
		if err := appendLine(c.ledger+".models", agentspec.IdentityOf(ctx).Tenant); err != nil {
			return reply, err
		}
	}
	for i := range orders {
		name := fmt.Sprintf("%s-%d", agentspec.RunID(ctx), i+1)
		if paid[name] || len(reply.ToolCalls) >= together {
			continue
		}
		args, err := json.Marshal(order{name})
		if err != nil {
			return reply, err
		}
		reply.ToolCalls = append(reply.ToolCalls, agent.ToolCallRequest{
			ID: fmt.Sprintf("c%08x", rand.Uint32()), Name: "pay", Args: args,
		})
	}
	if len(reply.ToolCalls) == 0 {
		reply.Content = fmt.Sprintf("%d orders are paid", len(paid))
	}
	return reply, nil
}
