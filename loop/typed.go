package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/generated/agent"
)

// RunAs runs an agent and decodes its answer as a T, a struct or a map with string keys. For example, RunAs[Invoice]
// reads an invoice from a letter. The JSON Schema of T is derived as [Tool] derives that of arguments. The model gets
// it as the response format of each request, or as the parameters of the done tool if the agent has one. T then
// replaces Agent.Request.ResponseFormat or the parameters of Agent.Done for this run, and for an agent that takes over.
//
// An answer that is not a T is rejected with the reason, after the hooks of CheckDone, and counts towards
// Limits.Rejections. If the run ends without a T, the error is a [*NoAnswerError]. The result of the run is returned
// in every case. If the run could not start, the error matches [ErrNotStarted].
//
// If the run waits for a person, the error matches [ErrSuspended], and AgentResult.Suspended has the state. RunAs
// continues the run if the Request has Answers. [Agent.Answer] continues it as well: the state has the schema of T, so
// the reply is JSON that fits it. Request.Events shows the reply while the model writes it.
func RunAs[T any](ctx context.Context, a *Agent, req Request) (T, agent.AgentResult, error) {
	var answer T
	want, err := typeOf[T]()
	if err != nil {
		return answer, agent.AgentResult{}, &notStarted{err}
	}
	r, err := newRun(ctx, a, req, origin{typed: want})
	if err != nil {
		return answer, agent.AgentResult{}, err
	}
	result, err := r.execute()
	answer, err = decodeAnswer[T](result, err)
	return answer, result, err
}

// StreamAs is [RunAs] as a stream of events, and writes the answer to *answer before the last event, EventEnd. That
// event comes with the error that RunAs would return, and *answer stays as it is if there is one. A run that cannot
// start yields only its error. For the rest it is like [Agent.Stream]: if the caller stops reading, the run is
// cancelled.
//
//	var bill invoice
//	for event, err := range loop.StreamAs(ctx, reader, req, &bill) {
func StreamAs[T any](ctx context.Context, a *Agent, req Request, answer *T) iter.Seq2[Event, error] {
	want, err := typeOf[T]()
	if err == nil && answer == nil {
		err = errors.New("loop: StreamAs has no place for the answer: pass a pointer to a variable")
	}
	if err != nil {
		return func(yield func(Event, error) bool) { yield(Event{}, &notStarted{err}) }
	}
	return a.stream(ctx, req, want, func(result agent.AgentResult, err error) error {
		got, err := decodeAnswer[T](result, err)
		if err == nil {
			*answer = got
		}
		return err
	})
}

// decodeAnswer returns the answer of a run that has ended, or a [*NoAnswerError].
func decodeAnswer[T any](result agent.AgentResult, err error) (T, error) {
	var answer, none T
	// Without an error, a cause other than this one means that a hook gave the reply.
	if err == nil && result.Stop.Cause == agent.CauseCompleted {
		if err = json.Unmarshal([]byte(result.Reply), &answer); err == nil {
			return answer, nil
		}
	}
	return none, &NoAnswerError{Stop: result.Stop, Reply: result.Reply, Err: err}
}

// A NoAnswerError reports that a run of [RunAs] or [StreamAs] ended without an answer of the type. It wraps the error
// that [Agent.Do] returns for such a run: for example, a limit stopped it, or it waits for a person. It wraps none if a
// hook ended the turn with a text.
type NoAnswerError struct {
	Stop  agent.EndRun // why the run ended
	Reply string       // the reply of the run
	Err   error        // the error of the run, or why Reply is not an answer of the type; may be nil
}

// Error has the cause and the reason.
func (e *NoAnswerError) Error() string {
	text := fmt.Sprintf("the run ended without an answer of the type (%s)", e.Stop.Cause)
	switch {
	case e.Err != nil: // of a failed run, it is the message too
		text += ": " + e.Err.Error()
	case e.Stop.Message != "":
		text += ": " + e.Stop.Message
	}
	return text
}

// Unwrap returns Err.
func (e *NoAnswerError) Unwrap() error { return e.Err }

// A typed is the type that the answer of a run must have.
type typed struct {
	savedType
	args   *jsonschema.Resolved
	decode func([]byte) error // into a value of the Go type, if it is known
}

// typeOf returns the type of answers for T.
func typeOf[T any]() (*typed, error) {
	wrong := func(err error) error {
		return fmt.Errorf("loop: an answer cannot be a %v: %w; use a struct", reflect.TypeFor[T](), err)
	}
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, wrong(err)
	}
	if schema.Type != "object" {
		return nil, wrong(errors.New("its JSON is not an object"))
	}
	data, _ := json.Marshal(schema) // cannot fail: it is made from a type
	saved := savedType{Name: toolName("", reflect.TypeFor[T]().Name()), Schema: data}
	if saved.Name == "" || len(saved.Name) > 64 {
		saved.Name = "answer"
	}
	t, err := saved.restored()
	if err != nil {
		return nil, wrong(err)
	}
	t.decode = func(data []byte) error { return json.Unmarshal(data, new(T)) }
	return t, nil
}

// restored returns the type of answers with the schema. It has no Go type.
func (s savedType) restored() (*typed, error) {
	args, err := resolve(agent.ToolSchema{Name: s.Name, Parameters: s.Schema})
	if err != nil {
		return nil, err
	}
	return &typed{savedType: s, args: args, decode: func([]byte) error { return nil }}, nil
}

// format returns the response format of requests.
func (t *typed) format() *agent.ResponseFormat {
	return &agent.ResponseFormat{
		Type: "json_schema", Name: t.Name, Schema: slices.Clone(t.Schema), Strict: allRequired(t.args.Schema()),
	}
}

// allRequired reports whether every object in a schema has exactly the properties that it lists. Providers refuse other
// schemas in strict mode.
func allRequired(s *jsonschema.Schema) bool {
	if s == nil {
		return true
	}
	if s.Ref != "" || s.Properties == nil && s.AdditionalProperties != nil || len(s.Required) != len(s.Properties) {
		return false
	}
	for _, property := range s.Properties {
		if !allRequired(property) {
			return false
		}
	}
	return allRequired(s.Items)
}

// check describes for the model why an answer does not have the type, or returns "". A nil type accepts every
// answer.
func (t *typed) check(answer string, limit int) string {
	if t == nil {
		return ""
	}
	if limit > 0 && len(answer) > limit {
		return fmt.Sprintf("the answer has %d bytes, the limit is %d; send less", len(answer), limit)
	}
	var value any
	if err := json.Unmarshal([]byte(answer), &value); err != nil {
		return fmt.Sprintf("the answer is not JSON: %v; answer with one JSON object and nothing else", err)
	}
	if nested([]byte(answer), maxNesting) {
		return fmt.Sprintf("the answer has more than %d levels; use fewer", maxNesting)
	}
	err := recoverAsError("checking it", func() error {
		if err := t.args.Validate(value); err != nil {
			return err
		}
		return t.decode([]byte(answer))
	})
	if err == nil {
		return ""
	}
	problem := misnamed(t.args.Schema(), value, "")
	if problem == "" {
		problem = shortened(err.Error())
	}
	return "the answer does not fit the requested JSON Schema: " + problem
}

// unfenced returns the text in a code fence around a whole answer with a type, because many models write JSON in one.
func (t *typed) unfenced(answer string) string {
	inner, fenced := strings.CutPrefix(strings.TrimSpace(answer), "```")
	inner, closed := strings.CutSuffix(inner, "```")
	if _, body, ok := strings.Cut(inner, "\n"); t != nil && fenced && closed && ok {
		return strings.TrimSpace(body)
	}
	return answer
}
