package builtin

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzToolOutput gives any output of a tool to all that look into it.
func FuzzToolOutput(f *testing.F) {
	for _, s := range append([]string{
		`{"needs_approval":true,"approval_description":" Send it? ","approval_options":["yes","",1,"no"]}`, `{"needs_approval":"true"}`, `{"needs_approval":true,"needs_approval":false}`, `{"NEEDS_APPROVAL":true,"approval_options":null}`,
		`[{"a":1},"b",null,4]`, `[1,2] and more`, `{"a":"b@c.org","b":["4111 1111 1111 1111",4111111111111111],"c@d.org":{}}`, "call me: +1 555 123 4567\nb@c.org", strings.Repeat("é", 700), `["` + strings.Repeat("x", 700) + `"]`,
	}, hostileJSON...) {
		f.Add(s, uint16(40))
	}
	personal := RedactPII()
	f.Fuzz(func(t *testing.T, output string, size uint16) {
		if text := resultSummary(output, ""); len(text) > maxSummaryBytes || utf8.ValidString(output) && !utf8.ValidString(text) || !strings.HasPrefix(text, summaryPrefix) {
			t.Errorf("%q is summarised as %q", output, text)
		}

		if asks, ok := approvalIn(agent.ToolCallResult{Output: output, Call: agent.ToolCallRequest{Name: "t", Step: 1}}); ok {
			if len(asks.Options) == 0 || len(asks.Options) > 20 || asks.Description == "" || utf8.RuneCountInString(asks.Description) > maxApproval {
				t.Errorf("%q asks %+v", output, asks)
			}
			same := marshalled(map[string]any{"needs_approval": true, "approval_description": asks.Description, "approval_options": asks.Options})
			if again, ok := approvalIn(agent.ToolCallResult{Output: string(same), Call: agent.ToolCallRequest{Name: "t", Step: 1}}); !ok || !reflect.DeepEqual(again, asks) {
				t.Errorf("%+v, asked again as %s, is %+v", asks, same, again)
			}
		}

		most := int(size) + 1
		left, rejection, err := LengthCap(most).Validate(t.Context(), agent.ToolCallRequest{}, output)
		fits := utf8.RuneCountInString(output) <= most
		if err != nil || utf8.RuneCountInString(left) > most || fits && left != output || (rejection != "") != (!fits && json.Valid([]byte(output))) {
			t.Errorf("%q is capped at %d as %q, %q, %v", output, most, left, rejection, err)
		}

		left, rejection, err = personal.Validate(t.Context(), agent.ToolCallRequest{}, output)
		if err != nil || rejection != "" || isJSON(output) && tokens([]byte(left)) != tokens([]byte(output)) {
			t.Errorf("%q is left as %q, %q, %v", output, left, rejection, err)
		}
	})
}

// FuzzIsEcho takes any reply for a payload that a model repeats: who asked for JSON gets more of it, and a fence
// around it makes no difference.
func FuzzIsEcho(f *testing.F) {
	for _, s := range append([]string{
		`{"ok":false,"error":"x"}`, `[{"ok":false,"error":{"retry_hint":1}},{"you_sent":{}}]`, `Sure: {"retry_hint":"x"}`, `{"retry_hint":"x"} is what I got`, "```json\n{\"ok\":false,\"error\":1}\n```",
		`{"ok":false,"error":1,"ok":true}`, `{{{{{{{{{{{{{{{{{{{{{"retry_hint":1}`, `[]`, `{"error":"retry_hint"}`, `{"ok" : false , "error":null}`,
	}, hostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		strict, loose := isEcho(reply, true), isEcho(reply, false)
		if strict && !loose {
			t.Errorf("%q is an echo only where JSON was asked for", reply)
		}
		if !strings.ContainsAny(reply, "`~") && len(reply) < 1000 {
			if fenced := isEcho("```json\n"+reply+"\n```", false); fenced != loose {
				t.Errorf("%q is an echo: %t, within a fence: %t", reply, loose, fenced)
			}
		}
		if loose && isEcho(reply+"\nThat is the answer.", false) {
			t.Errorf("%q with prose behind it is an echo", reply)
		}
		if loose && !strings.ContainsAny(reply, "{[") {
			t.Errorf("%q holds no JSON", reply)
		}
	})
}

// FuzzUsageFrom reads any reply's usage: never less than nothing, never more from a cache than was sent.
func FuzzUsageFrom(f *testing.F) {
	for _, s := range append([]string{
		`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}`, `{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}`,
		`{"prompt_tokens":-10,"completion_tokens":20}`, `{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":-7}}`, `{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}`,
		`{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}`, `{"prompt_tokens":null,"input_tokens":3}`, `{"prompt_tokens":1.0}`, `{"prompt_tokens":1,"PROMPT_TOKENS":2}`, `{"prompt_tokens_details":null,"prompt_tokens":1}`,
	}, hostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u := UsageFrom(data)
		if u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total() < 0 || u.CacheRead > u.Input-u.CacheWrite {
			t.Errorf("%s is %+v", data, u)
		}
		same := marshalled(map[string]int{
			"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		})
		if again := UsageFrom(same); again != u {
			t.Errorf("%+v, written as %s, is %+v", u, same, again)
		}
	})
}

// FuzzReadJudgement reads any answer of a critic: what is read is read again within prose and a fence.
func FuzzReadJudgement(f *testing.F) {
	for _, s := range append([]string{
		`{"approve":true}`, "```json\n{\"approve\": false, \"problem\": \"x\", \"weaknesses\": [\"a\"], \"suggestions\": [\"b\", \"\"]}\n```", `{"approve":null}`, `{"approve":"true"}`, `}{`, `{"approve":true,"approve":false}`,
		`{"APPROVE":true,"Problem":"}{"}`, `I say {"approve":false,"weaknesses":null} and no more`, `{"approve":true} {"approve":false}`, `{"approve":false,"weaknesses":[1]}`,
	}, hostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		j, err := readJudgement(answer)
		if err != nil {
			if !reflect.DeepEqual(j, judgement{}) && j.Approve {
				t.Errorf("%q cannot be read and approves: %+v, %v", answer, j, err)
			}
			return
		}
		if !strings.Contains(strings.ToLower(answer), "approve") && !strings.Contains(answer, `\`) && !strings.Contains(answer, "\u017f") {
			t.Errorf("%q does not say whether it approves: %+v", answer, j)
		}
		same := "So:\n```json\n" + string(marshalled(j)) + "\n```\nThat is all."
		if again, err := readJudgement(same); err != nil || !reflect.DeepEqual(again, j) {
			t.Errorf("%+v, written as %s, is %+v, %v", j, same, again, err)
		}
		if text := j.feedback(1); utf8.RuneCountInString(text) > 2000+20*600+200 {
			t.Errorf("feedback of %d characters", utf8.RuneCountInString(text))
		}
	})
}

// FuzzJSONSchemas checks any answer and any output against schemas, and reads any schema of a tool's parameters: both
// checks agree about JSON, and however it is laid out.
func FuzzJSONSchemas(f *testing.F) {
	for _, s := range append([]string{
		`{"name":"a","sub":[{"name":"b","n":1}]}`, `{"name":"a","name":1}`, `{"n":9007199254740993,"name":""}`, `{"name":"a"} {"name":"b"}`, strings.Repeat(`{"name":"a","sub":[`, 200) + strings.Repeat(`]}`, 200),
		`{"type":"object","properties":{"a":{"type":["string","null"],"description":"x\ny"},"b":{"type":{"x":1}},"c":true,"a":{}},"required":["a"]}`, `{"properties":[]}`, `{"required":"a"}`, `{"properties":{"__theory__":{}}}`,
		`{"properties":{"__theory__":{}},"Properties":{"a":null}}`, `{"properties":null}`,
	}, hostileJSON...) {
		f.Add(s)
	}
	const schema = `{"type":"object","required":["name"],"properties":{"name":{"type":"string","maxLength":5},"n":{"type":"integer"},"sub":{"type":"array","uniqueItems":true,"items":{"$ref":"#"}}}}`
	output, answer := SchemaCheck(schema), AnswerSchema(schema)
	f.Fuzz(func(t *testing.T, text string) {
		left, rejected, err := output.Validate(t.Context(), agent.ToolCallRequest{}, text)
		feedback, failed := answer.Check(t.Context(), nil, Attempt{DoneRequest: agent.DoneRequest{Answer: text}})
		if err != nil || failed != nil || rejected == "" && left != text || (rejected == "") != (feedback == "") || rejected == "" && !json.Valid([]byte(text)) || len(rejected)+len(feedback) > 4*2000 {
			t.Errorf("%q: %q, %v; as an answer %q, %v", text, rejected, err, feedback, failed)
		}
		if valid := json.Valid([]byte(text)); valid {
			laidOut := marshalled(json.RawMessage(text))
			if _, again, _ := output.Validate(t.Context(), agent.ToolCallRequest{}, " "+string(laidOut)+"\n"); (again == "") != (rejected == "") {
				t.Errorf("%q: %q; laid out as %s: %q", text, rejected, laidOut, again)
			}
		}
		declaredHolds(t, json.RawMessage(text))
		lines := strings.Split(parameters(json.RawMessage(text)), "\n")
		all, _ := members([]byte(text), -1)
		most := 1
		for _, m := range all {
			if strings.EqualFold(m.key, "properties") {
				inner, _ := members(m.value, -1)
				most = max(most, len(inner))
			}
		}
		if !strings.Contains(text, `\u`) && len(lines) > most || lines[0] == "" {
			t.Errorf("%q has the parameters %q", text, lines)
		}
	})
}

// oneTool is a table that holds one tool, whatever it is called.
type oneTool struct{ agent.ToolSchema }

func (o oneTool) Lookup(string) (agent.ToolSchema, bool) { return o.ToolSchema, true }
func (o oneTool) Schemas() []agent.ToolSchema            { return []agent.ToolSchema{o.ToolSchema} }
func (o oneTool) Add(agent.Tool) error                   { return nil }

// declaredHolds checks that a theory is taken out of a call unless the tool's parameters have a property for it.
func declaredHolds(t *testing.T, parameters json.RawMessage) {
	t.Helper()
	run := agent.NewRun(&agent.Env{Tools: oneTool{agent.ToolSchema{Name: "t", Parameters: parameters}}})
	call := agent.ToolCallRequest{ID: "1", Name: "t", Args: json.RawMessage(`{"__theory__":"x","a":1}`)}
	left := call
	left.Args = json.RawMessage(`{"a":1}`)
	want := agent.ReplaceBeforeTool(left, "the theory is not for the tool")
	if declares(parameters, "__theory__") {
		want = nil
	}
	if is, err := new(TheoryNote).BeforeTool(t.Context(), run, call); err != nil || !reflect.DeepEqual(is, want) {
		t.Errorf("for a tool with the parameters %s the call is left as %+v, %v", parameters, is, err)
	}
}

// declares reports whether a property has the name in what stands under "properties", however that is spelt.
func declares(parameters []byte, name string) (found bool) {
	if !json.Valid(parameters) {
		return false
	}
	all, _ := members(parameters, -1)
	for _, m := range all {
		if !strings.EqualFold(m.key, "properties") {
			continue
		}
		if string(m.value) == "null" {
			found = false
			continue
		}
		properties, ok := members(m.value, -1)
		if !ok {
			return false
		}
		found = found || slices.ContainsFunc(properties, func(p member) bool { return p.key == name })
	}
	return found
}
