package looptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// CheckTool runs the conformance suite on a tool. Each of args is the arguments of a valid sample call, as text or as
// a value to encode. newTool returns a new instance with the same configuration each time. For example:
//
//	looptest.CheckTool(t, func() agent.Tool { return weather.Tool(fakeServer) }, `{"city":"Oslo"}`)
//
// The suite checks these rules:
//
//   - The name is legal at all common model providers: at most 64 letters, digits, underscores and hyphens, and it
//     begins with a letter or an underscore.
//   - The schema is the same each time, and is that of an object, which an agent of package loop accepts.
//   - The sample calls match the schema and succeed. If the tool has Output, it returns the same text as Call.
//   - A call returns when its context is done, whether that happens before or during the call.
//   - One instance answers sample calls from many goroutines. Run the test with -race.
//   - Arguments that are not a JSON object are an error. No arguments make the tool panic, block or change them.
//   - In an agent the sample calls succeed, and arguments that do not match the schema are an error for the model.
//
// The suite varies the sample calls: it omits arguments, and sends others that are large or of another type. Let a
// tool that writes act on something that the test can lose.
func CheckTool(t *testing.T, newTool func() agent.Tool, args ...any) {
	t.Helper()
	s := toolSuite{newTool: newTool, patience: toolPatience}
	for _, a := range args {
		s.samples = append(s.samples, raw(a))
	}
	for _, check := range toolChecks {
		t.Run(check.name, func(t *testing.T) { check.run(s, t) })
	}
}

// toolPatience is the time limit for one call. It is long, because a machine may be busy and a test slow under -race.
const toolPatience = time.Minute

// A toolSuite is the subject of the suite.
type toolSuite struct {
	newTool  func() agent.Tool
	samples  []json.RawMessage
	patience time.Duration // for one call
}

var toolChecks = []struct {
	name string
	run  func(toolSuite, testing.TB)
}{
	{"schema", toolSuite.schema},
	{"sample calls", toolSuite.sampleCalls},
	{"cancellation", toolSuite.cancellation},
	{"concurrent calls", toolSuite.concurrentCalls},
	{"hostile arguments", toolSuite.hostileArguments},
	{"calls of an agent", toolSuite.inAgent},
}

// An act is Call or Output of a tool.
type act func(context.Context, agent.ToolCallRequest) (agent.ToolOutput, error)

// acts returns the methods of a tool by name.
func acts(tool agent.Tool) map[string]act {
	all := map[string]act{"Call": func(ctx context.Context, call agent.ToolCallRequest) (agent.ToolOutput, error) {
		text, err := tool.Call(ctx, call)
		return agent.ToolOutput{Text: text}, err
	}}
	if tool, ok := tool.(agent.OutputTool); ok {
		all["Output"] = tool.Output
	}
	return all
}

// An answer is the result of a call, or the rule that the call broke.
type answer struct {
	text   string
	err    error
	broken string
}

// call calls a tool in another goroutine and waits for the answer.
func (s toolSuite) call(ctx context.Context, f act, name string, args json.RawMessage) answer {
	answers := make(chan answer, 1)
	call := agent.ToolCallRequest{ID: "call_1", Name: name, Args: slices.Clone(args), Step: 1}
	go func() {
		a := answer{broken: "ended its goroutine"}
		defer func() {
			if v := recover(); v != nil {
				a.broken = fmt.Sprintf("panicked: %v", v)
			}
			if a.broken == "" && !bytes.Equal(call.Args, args) {
				a.broken = fmt.Sprintf("changed the arguments to %s; clone them first", excerpt(call.Args))
			}
			answers <- a
		}()
		out, err := f(ctx, call)
		a = answer{text: out.Text, err: err}
	}()
	select {
	case a := <-answers:
		return a
	case <-time.After(s.patience):
		return answer{broken: fmt.Sprintf("did not return within %v", s.patience)}
	}
}

var legalName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

func (s toolSuite) schema(t testing.TB) {
	tool := s.newTool()
	schema, again := tool.Schema(), tool.Schema()
	if encoded(schema) != encoded(again) {
		t.Errorf("the schema was %s and then %s; return the same each time", encoded(schema), encoded(again))
	}
	if !legalName.MatchString(schema.Name) {
		t.Errorf("the name %q is illegal at some model providers; use one that matches %s", schema.Name, legalName)
	}
	if err := loop.CheckSchema(schema); err != nil {
		t.Errorf("an agent refuses the tool: %v", err)
		return
	}
	if len(schema.Parameters) == 0 {
		return
	}
	var parameters map[string]any
	if json.Unmarshal(schema.Parameters, &parameters) != nil || parameters["type"] != "object" {
		t.Errorf(`the parameters are %s; let their type be "object"`, excerpt(schema.Parameters))
	}
}

func encoded(s agent.ToolSchema) string {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%+v (%v)", s, err)
	}
	return excerpt(text)
}

// matches returns an error if the arguments do not match the schema of a tool.
func matches(schema agent.ToolSchema, args json.RawMessage) error {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	var parameters jsonschema.Schema
	text := schema.Parameters
	if len(text) == 0 {
		text = json.RawMessage(`{"type":"object"}`)
	}
	if err := json.Unmarshal(text, &parameters); err != nil {
		return err
	}
	resolved, err := parameters.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}

func (s toolSuite) sampleCalls(t testing.TB) {
	if len(s.samples) == 0 {
		t.Errorf("there is no sample call; pass the arguments of at least one valid call")
	}
	for _, args := range s.samples {
		schema := s.newTool().Schema()
		if err := matches(schema, args); err != nil {
			t.Errorf("the sample %s does not match the schema: %v", excerpt(args), err)
			continue
		}
		texts := make(map[string]string)
		for method := range acts(s.newTool()) {
			a := s.call(t.Context(), acts(s.newTool())[method], schema.Name, args)
			switch {
			case a.broken != "":
				t.Errorf("%s(%s) %s", method, excerpt(args), a.broken)
			case a.err != nil:
				t.Errorf("%s(%s) failed: %v", method, excerpt(args), a.err)
			}
			texts[method] = a.text
		}
		if text, ok := texts["Output"]; ok && text != texts["Call"] {
			t.Errorf("for %s Output returns the text %q and Call %q; let Call return the text of Output", excerpt(args), text,
				texts["Call"])
		}
	}
}

func (s toolSuite) cancellation(t testing.TB) {
	for _, args := range s.samples {
		for method := range acts(s.newTool()) {
			before, cancel := context.WithCancel(t.Context())
			cancel()
			tool := s.newTool()
			if a := s.call(before, acts(tool)[method], tool.Schema().Name, args); a.broken != "" {
				t.Errorf("%s(%s) with a context that is done %s", method, excerpt(args), a.broken)
			}
			during, cancel := context.WithCancel(t.Context())
			tool = s.newTool()
			f := acts(tool)[method]
			a := s.call(during, func(ctx context.Context, call agent.ToolCallRequest) (agent.ToolOutput, error) {
				go cancel()
				return f(ctx, call)
			}, tool.Schema().Name, args)
			cancel()
			if a.broken != "" {
				t.Errorf("%s(%s), cancelled during the call, %s", method, excerpt(args), a.broken)
			}
		}
	}
}

// concurrency is the number of goroutines that call one tool.
const concurrency = 8

func (s toolSuite) concurrentCalls(t testing.TB) {
	tool := s.newTool()
	name := tool.Schema().Name
	var all sync.WaitGroup
	for range concurrency {
		all.Go(func() {
			for _, args := range s.samples {
				for method, f := range acts(tool) {
					switch a := s.call(t.Context(), f, name, args); {
					case a.broken != "":
						t.Errorf("with %d calls at once %s(%s) %s", concurrency, method, excerpt(args), a.broken)
					case a.err != nil:
						t.Errorf("with %d calls at once %s(%s) failed: %v", concurrency, method, excerpt(args), a.err)
					}
				}
			}
		})
	}
	all.Wait()
}

// malformed are arguments that are not a JSON object.
var malformed = []string{
	"{", `{"a":`, `{"a":1}}`, "not JSON", "[]", `[{"a":1}]`, "true", "1", `"text"`, "\xff\xfe", "{\"a\":\"\x01\"}",
	strings.Repeat("[", 20_000), strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
}

// hostileValues replace the value of one argument at a time.
var hostileValues = []string{
	"null", "true", "0", "-1", "1e300", "1e400", "123456789012345678901234567890", `""`, `"text"`, `"\u0000"`,
	`"../../../etc/passwd"`, `"\ud800"`, "\"\xff\"", "[]", "{}", `[[[[[[[[]]]]]]]]`, `{"a":{"a":{"a":{}}}}`,
	`"` + strings.Repeat("a", 1<<17) + `"`,
}

// variations returns the empty and null arguments, and the samples with a property omitted, replaced or added.
func (s toolSuite) variations() (all []json.RawMessage) {
	add := func(object map[string]json.RawMessage) {
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(object)) { // not encoding/json, which refuses some of the values
			key, _ := json.Marshal(name)
			fmt.Fprintf(&text, ",%s:%s", key, object[name])
		}
		all = append(all, json.RawMessage("{"+strings.TrimPrefix(text.String(), ",")+"}"))
	}
	all = append(all, nil, json.RawMessage("null"), json.RawMessage("{}"))
	for _, sample := range s.samples {
		var object map[string]json.RawMessage
		if json.Unmarshal(sample, &object) != nil {
			continue
		}
		for name := range object {
			without := maps.Clone(object)
			delete(without, name)
			add(without)
			for _, value := range hostileValues {
				with := maps.Clone(object)
				with[name] = json.RawMessage(value)
				add(with)
			}
		}
		more := maps.Clone(object)
		if more == nil {
			more = make(map[string]json.RawMessage)
		}
		more["__proto__"] = json.RawMessage(`{"a":1}`)
		add(more)
	}
	return all
}

func (s toolSuite) hostileArguments(t testing.TB) {
	tool := s.newTool()
	name := tool.Schema().Name
	for method, f := range acts(tool) {
		for _, args := range malformed {
			switch a := s.call(t.Context(), f, name, json.RawMessage(args)); {
			case a.broken != "":
				t.Errorf("%s(%s) %s", method, excerpt([]byte(args)), a.broken)
			case a.err == nil:
				t.Errorf("%s(%s) succeeded; return an error for arguments that are not a JSON object", method,
					excerpt([]byte(args)))
			}
		}
		for _, args := range s.variations() {
			if a := s.call(t.Context(), f, name, args); a.broken != "" {
				t.Errorf("%s(%s) %s", method, excerpt(args), a.broken)
			}
		}
	}
}

// inAgent lets a model make all calls of the suite in one run.
func (s toolSuite) inAgent(t testing.TB) {
	tool := s.newTool()
	schema := tool.Schema()
	all := slices.Concat(s.samples, s.variations())
	for _, args := range malformed {
		all = append(all, json.RawMessage(args))
	}
	turns := make([]Turn, len(all))
	for i, args := range all {
		turns[i] = Call(schema.Name, string(args))
	}
	a := &loop.Agent{
		Model: NewScript(Calls(turns...), Reply("done")), Tools: []agent.Tool{tool},
		Limits: loop.Limits{Calls: -1, ToolTime: s.patience},
	}
	result, err := a.Run(t.Context(), "call the tool")
	if err != nil || result.Stop.Cause.Forced() || len(result.Calls) != len(all) {
		t.Errorf("a run with %d calls answered %d and stopped with %v: %v", len(all), len(result.Calls), result.Stop, err)
		return
	}
	for i, r := range result.Calls {
		call := schema.Name + "(" + excerpt(all[i]) + ")"
		switch {
		case r.Kind == agent.FailPanic, r.Kind == agent.FailTimeout:
			t.Errorf("%s failed: %s", call, r.Err)
		case i < len(s.samples) && !r.OK():
			t.Errorf("%s failed in an agent: %s", call, r.Err)
		case r.OK() && matches(schema, all[i]) != nil:
			t.Errorf("%s succeeded in an agent, but does not match the schema", call)
		}
	}
}

// excerpt returns the beginning of a text, quoted if it is not plain.
func excerpt(text []byte) string {
	const most = 120
	tail := ""
	if len(text) > most {
		text, tail = text[:most], fmt.Sprintf("... (%d bytes)", len(text))
	}
	if !json.Valid(text) {
		return fmt.Sprintf("%q%s", text, tail)
	}
	return string(text) + tail
}
