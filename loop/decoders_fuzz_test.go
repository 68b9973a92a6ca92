package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzToolSchema takes arbitrary text as the parameters of a tool and as the arguments of a call. A bad schema and
// bad arguments must be refused. Formatting the arguments differently must not change the result.
func FuzzToolSchema(f *testing.F) {
	for _, s := range []struct{ schema, args string }{
		{``, `{}`}, {`{}`, ``}, {`true`, `{}`}, {`false`, `{}`}, {`null`, `null`}, {`{"type":"object"}`, `[]`},
		{`{"type":"object","properties":{"n":{"type":"integer","minimum":1e400}},"required":["n"]}`, `{"n":1e400}`},
		{`{"type":"object","properties":{"n":{"type":"integer","multipleOf":0}}}`, `{"n":9007199254740993}`},
		{`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"a":{"a":{"b":1}}}`},
		{`{"$ref":"#"}`, `{}`}, {`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{"$ref":"#"}}}}`, `{}`},
		{`{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a"}}}`, `{"a":1,"a":2}`},
		{`{"$id":"https://example.org/a","$ref":"b","$defs":{"b":{"$id":"b","minProperties":1}}}`,
			`{"\ud800":"` + "\xff" + `"}`},
		{`{"patternProperties":{"(a|b)*c":{"type":"string","pattern":"^(a+)+$"}}}`,
			`{"aaac":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}`},
		{`{"items":[{"const":1}],"enum":[[1],[1.0],null],"uniqueItems":true,"contains":{},"minContains":0}`, `[1,1.0]`},
		{`{"if":{"type":"object"},"then":{"unevaluatedProperties":false},"else":{"propertyNames":{"maxLength":-1}}}`,
			`{"x":{}}`},
		{strings.Repeat(`{"properties":{"a":`, 300) + `{}` + strings.Repeat(`}}`, 300), strings.Repeat(`{"a":`, 300) + `1` +
			strings.Repeat(`}`, 300)},
	} {
		f.Add([]byte(s.schema), []byte(s.args))
	}
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		if len(schema) > 20_000 || len(args) > 20_000 {
			return // nothing bounds a check that takes quadratic time
		}
		resolved, err := resolve(agent.ToolSchema{Name: "t", Parameters: schema})
		if err != nil {
			if resolved != nil || !strings.Contains(err.Error(), `"t"`) {
				t.Errorf("%v beside %v", resolved, err)
			}
			return
		}
		e := &entry{schema: agent.ToolSchema{Name: "t", Parameters: schema}, args: resolved}
		refused := e.fits(args, 0)
		if refused != nil && (refused.Kind != agent.FailArguments || refused.Message == "") ||
			refused == nil && !json.Valid(args) {
			t.Errorf("%s, given %s: %+v", schema, args, refused)
		}
		if len(args) > 1 && e.fits(args, len(args)-1) == nil {
			t.Errorf("%d bytes fit into one less", len(args))
		}
		var indented bytes.Buffer
		if json.Indent(&indented, args, " ", "\t") == nil && (e.fits(indented.Bytes(), 0) == nil) != (refused == nil) {
			t.Errorf("%s, given %s: %v; indented it is the other way round", schema, args, refused)
		}
	})
}

// FuzzArguments passes arbitrary arguments to a Go function as a tool, to the done tool, and through a model
// reply.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `[]`, `{"answer":"x"}`, `{"answer":null}`, `{"ANSWER":"x","answer":5}`,
		`{"text":"a","n":1,"sub":{"list":[1,2]},"any":{"x":[null,1e5]}}`,
		`{"text":"\ud800","text":"b"}`, `{"n":1e400}`, `{"n":9223372036854775808}`, `{"n":1.0}`, "{\"text\":\"\xff\"}",
		`{"text":"a"} x`, `{"sub":{"sub":{"sub":null}}}`,
		strings.Repeat(`{"sub":`, 300) + `{}` + strings.Repeat(`}`, 300), strings.Repeat(`[`, 20_000),
	} {
		f.Add([]byte(s))
	}
	type input struct {
		Text string          `json:"text,omitempty"`
		N    int             `json:"n,omitempty"`
		List []float64       `json:"list,omitempty"`
		Map  map[string]bool `json:"map,omitempty"`
		Any  any             `json:"any,omitempty"`
	}
	echo := Tool("echo", "", func(_ context.Context, in input) (input, error) { return in, nil })
	f.Fuzz(func(t *testing.T, args []byte) {
		out, err := echo.Call(t.Context(), agent.ToolCallRequest{Name: "echo", Args: args})
		if err == nil {
			again, err := echo.Call(t.Context(), agent.ToolCallRequest{Name: "echo", Args: json.RawMessage(out)})
			if err != nil || again != out || !json.Valid(args) {
				t.Errorf("%s became %s, and that %s, %v", args, out, again, err)
			}
		} else if refused, ok := err.(*agent.ToolError); !ok || refused.Kind != agent.FailArguments || out != "" {
			t.Errorf("%s: %q, %v", args, out, err)
		}

		answer := answerOf(args)
		same, _ := json.Marshal(map[string]string{"answer": answer})
		if again := answerOf(same); again != strings.ToValidUTF8(answer, "\ufffd") && again != answer &&
			!strings.Contains(again, "\ufffd") {
			t.Errorf("%s answers %q, and %s %q", args, answer, same, again)
		}

		reply := encodable(agent.LLMResponse{
			Extra: map[string]json.RawMessage{"x": args}, ToolCalls: []agent.ToolCallRequest{{ID: "1", Name: "t", Args: args}},
		})
		data, err := json.Marshal(reply)
		var back agent.LLMResponse
		if err == nil {
			err = json.Unmarshal(data, &back)
		}
		if err != nil || len(back.ToolCalls) != 1 || json.Valid(args) != json.Valid(back.ToolCalls[0].Args) {
			t.Errorf("%q came back as %+v, %v", args, back, err)
		}
		if once, _ := json.Marshal(back); utf8.Valid(args) && !bytes.Equal(once, data) {
			t.Errorf("%s came back as %s", data, once)
		}
	})
}

// A replier is a model that replies to the last user message.
type replier func(said string) agent.LLMResponse

func (r replier) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	said := ""
	for _, m := range req.Messages {
		if m.Role == agent.RoleUser {
			said = m.Content
		}
	}
	return r(said), nil
}

// FuzzTasks calls an agent with arbitrary arguments, both as a tool and as a handoff target. The agent must
// receive the task of the arguments, or the call must be refused.
func FuzzTasks(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `[]`, `{"task":"x"}`, `{"task":""}`, `{"task":null}`, `{"task":5}`, `{"TASK":"x"}`,
		`{"task":"x","TASK":"y"}`, `{"task":"x","Task":5}`, `{"task":"\ud800","context":[{}]}`, "{\"task\":\"\xff\"}",
		`{"task":"a"} x`, strings.Repeat(`{"task":`, 300) + `{}` + strings.Repeat(`}`, 300),
	} {
		f.Add([]byte(s))
	}
	const prefix = "asked: "
	echo := replier(func(said string) agent.LLMResponse { return agent.LLMResponse{Content: prefix + said} })
	helper := Subagent(&Agent{Name: "helper", Model: echo})
	f.Fuzz(func(t *testing.T, args []byte) {
		call := func(args []byte) (string, error) {
			return helper.Call(t.Context(), agent.ToolCallRequest{ID: "1", Name: "helper", Args: args})
		}
		reply, err := call(args)
		task, read := strings.CutPrefix(reply, prefix)
		var refused *agent.ToolError
		ok := errors.As(err, &refused) && refused.Kind == agent.FailArguments && reply == ""
		if read != (err == nil) || read && !json.Valid(args) || !read && !ok {
			t.Errorf("%s: %q, %v", args, reply, err)
		}
		same, _ := json.Marshal(map[string]string{"task": task})
		if again, err := call(same); read && (again != reply || err != nil) {
			t.Errorf("%s: %q, and %s: %q, %v", args, reply, same, again, err)
		}

		first := agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{
			{ID: "1", Name: "helper", Args: args}, {ID: "2", Name: HandoffPrefix + "expert", Args: args},
		}}
		front := &Agent{Tools: []agent.Tool{helper}, Handoffs: []*Agent{{Name: "expert", Model: echo}}}
		front.Model = replier(func(string) agent.LLMResponse {
			now := first
			first = agent.LLMResponse{Content: "no"}
			return now
		})
		result, err := front.Run(t.Context(), "why?")
		if err != nil || len(result.Calls) != 2 {
			t.Fatalf("%s: %+v, %v", args, result, err)
		}
		helped, handed := result.Calls[0], result.Calls[1]
		for _, c := range result.Calls {
			if c.Err != "" && (c.Status != agent.CallFailed || c.Kind != agent.FailArguments || c.Output != "") {
				t.Errorf("%s: %+v", args, c)
			}
		}
		if helped.OK() && (!read || helped.Output != reply || !handed.OK()) {
			t.Errorf("%s by itself: %q; in a run: %+v, then %+v", args, reply, helped, handed)
		}
		want, to := "no", ""
		if handed.OK() {
			want, to = prefix+orElse(task, "why?"), "expert"
		}
		if result.Reply != want || result.HandedOffTo != to || handed.OK() && !read && len(args) > 0 {
			t.Errorf("%s by itself: %q; handed over to %q: %q", args, reply, result.HandedOffTo, result.Reply)
		}
	})
}

// FuzzTypedAnswer takes arbitrary text as the answer of a RunAs. An accepted answer must decode.
func FuzzTypedAnswer(f *testing.F) {
	type answer struct {
		Name  string            `json:"name"`
		Parts []map[string]bool `json:"parts,omitempty"`
		Next  *struct {
			N int8 `json:"n"`
		} `json:"next,omitempty"`
	}
	want, err := typeOf[answer]()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{``, `{"name":"a"}`, `{"name":"a","parts":[{"b":true}],"next":{"n":1}}`, `{"name":"a"} x`,
		`{"name":1}`, `{"nam":"a"}`, `{"name":"a","next":{"n":300}}`, `[`, "{\"name\":\"\xff\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if want.check(text, 1<<16) == "" {
			var got answer
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Errorf("accepted %q: %v", text, err)
			}
		}
	})
}
