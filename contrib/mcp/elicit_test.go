package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
)

// person is an approver that gives one answer.
type person func(agent.Question) (agent.Approval, error)

func (p person) Approve(_ context.Context, q agent.Question) (agent.Approval, error) { return p(q) }

// asking returns a server that asks for a name when its tool greet is called. Servers ask in this way up to this
// version of the protocol.
func asking(schema string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "v1"}, &sdk.ServerOptions{
		SupportedProtocolVersions: []string{"2025-11-25"},
	})
	add(s, "greet", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		answer, err := req.Session.Elicit(ctx, &sdk.ElicitParams{
			Message: "Who\x1b[2J are you?", RequestedSchema: json.RawMessage(schema),
		})
		if err != nil {
			return text("error: " + err.Error()), nil
		}
		return text(fmt.Sprint(answer.Action, " ", answer.Content["name"])), nil
	})
	return s
}

func TestServerAsksThePerson(t *testing.T) {
	const form = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	answers := func(a agent.Approval, err error) person {
		return func(agent.Question) (agent.Approval, error) { return a, err }
	}
	name := func(args string) agent.Approval { return agent.Approval{Allow: true, Args: json.RawMessage(args)} }
	for _, c := range []struct {
		name, schema string
		person       agent.Approver
		want         string
	}{
		{"value", form, answers(name(`{"name":"Ann"}`), nil), "accept Ann"},
		{"value of another type", form, answers(name(`{"name":1}`), nil), "error: "},
		{"agreement without a required value", form, answers(agent.Approval{Allow: true}, nil), "decline <nil>"},
		{"agreement", `{"type":"object","properties":{}}`, answers(agent.Approval{Allow: true}, nil), "accept <nil>"},
		{"refusal", form, answers(agent.Approval{}, nil), "decline <nil>"},
		{"stop", form, answers(agent.Approval{StopRun: true}, nil), "cancel <nil>"},
		{"later", form, answers(agent.Approval{Pending: true}, nil), "cancel <nil>"},
		{"nobody answers", form, answers(agent.Approval{}, errors.New("gone")), "cancel <nil>"},
		{"nobody can be asked", form, nil, "error: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := connect(t, mcp.InProcess{Server: asking(c.schema)}, mcp.Options{Approver: c.person})
			out, err := tool(t, s, "greet").Output(t.Context(), call(""))
			if err != nil || !strings.HasPrefix(out.Text, c.want) {
				t.Errorf("got %q, %v", out.Text, err)
			}
		})
	}
	t.Run("the question", func(t *testing.T) {
		var got agent.Question
		s := connect(t, mcp.InProcess{Server: asking(form)}, mcp.Options{Approver: person(
			func(q agent.Question) (agent.Approval, error) { got = q; return agent.Approval{}, nil },
		)})
		if _, err := tool(t, s, "greet").Output(t.Context(), call("")); err != nil {
			t.Fatal(err)
		}
		if got.Prompt != "The MCP server test asks: Who\x1b[2J are you?" || got.Tool.Name != "test__elicitation" ||
			!strings.Contains(string(got.Tool.Parameters), `"required":["name"]`) {
			t.Errorf("the question is %+v", got)
		}
	})
}

func TestServerMayAskInItsResult(t *testing.T) {
	server := newServer()
	add(server, "greet", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if answer, ok := req.Params.InputResponses["name"].(*sdk.ElicitResult); ok {
			return text(fmt.Sprint(answer.Action, " ", answer.Content["name"])), nil
		}
		question := &sdk.ElicitParams{Message: "Who are you?"}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"name": question}}, nil
	})
	s := connect(t, mcp.InProcess{Server: server}, mcp.Options{Approver: person(
		func(agent.Question) (agent.Approval, error) {
			return agent.Approval{Allow: true, Args: json.RawMessage(`{"name":"Ann"}`)}, nil
		},
	)})
	if out, err := tool(t, s, "greet").Output(t.Context(), call("")); err != nil || out.Text != "accept Ann" {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestServerCannotAskOutsideOfACall(t *testing.T) {
	server, asked := asking(`{}`), false
	connect(t, mcp.InProcess{Server: server}, mcp.Options{Approver: person(
		func(agent.Question) (agent.Approval, error) { asked = true; return agent.Approval{Allow: true}, nil },
	)})
	for session := range server.Sessions() {
		answer, err := session.Elicit(t.Context(), &sdk.ElicitParams{Message: "Who are you?"})
		if err == nil && answer.Action == "accept" || asked {
			t.Errorf("got %+v, %v, asked %t", answer, err, asked)
		}
	}
}
