package loop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

type invoice struct {
	Number string  `json:"number" jsonschema:"as printed on the invoice"`
	Total  float64 `json:"total"`
	Answer string  `json:"answer,omitempty"`
}

const goodInvoice = `{"number":"A1","total":9.5,"answer":"x"}`

var submitTool = agent.ToolSchema{Name: "submit", Description: "submit the invoice"}

func TestRunAsReturnsTheAnswerAsAValue(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *loop.Agent
		turn looptest.Turn
	}{
		{"ResponseFormat", &loop.Agent{}, looptest.Reply(goodInvoice)},
		{"DoneTool", &loop.Agent{Done: submitTool}, looptest.Call("submit", goodInvoice)},
		{"Fenced", &loop.Agent{}, looptest.Reply("```json\n" + goodInvoice + "\n```\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := looptest.NewScript(c.turn)
			c.a.Model = script
			got, result, err := loop.RunAs[invoice](t.Context(), c.a, loop.Request{Task: "x"})
			if err != nil || got != (invoice{"A1", 9.5, "x"}) || result.Stop.Cause != agent.CauseCompleted {
				t.Fatalf("%+v, %+v, %v", got, result, err)
			}
			req := script.Requests()[0]
			schema := string(append(req.Tools, agent.ToolSchema{})[0].Parameters)
			if f := req.ResponseFormat; f != nil {
				schema = string(f.Schema)
				if f.Type != "json_schema" || f.Name != "invoice" || f.Strict {
					t.Errorf("%+v", f)
				}
			}
			if !strings.Contains(schema, "as printed on the invoice") {
				t.Errorf("the model got the schema %s", schema)
			}
		})
	}
}

func TestRunAsRejectsAnswersOfAnotherType(t *testing.T) {
	call := func(args string) looptest.Turn { return looptest.Call("submit", args) }
	for _, c := range []struct {
		name  string
		turns []looptest.Turn
		done  bool
		want  string // in the reason for the model
	}{
		{"OpenFence", turns(looptest.Reply("```json\n"+goodInvoice), looptest.Reply(goodInvoice)), false, "not JSON"},
		{"NotJSON", turns(looptest.Reply("A1, 9.50"), looptest.Reply(goodInvoice)), false, "not JSON"},
		{"UnknownName", turns(looptest.Reply(`{"number":"A1","totel":1}`), looptest.Reply(goodInvoice)), false, `"total"`},
		{"WrongType", turns(looptest.Reply(`{"number":1,"total":1}`), looptest.Reply(goodInvoice)), false, "number"},
		{"DoneTool", turns(call(`{"number":"A1"}`), call(goodInvoice)), true, `"total" is missing`},
		{"TextForTheDoneTool", turns(looptest.Reply("ready"), call(goodInvoice)), true, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := looptest.NewScript(c.turns...)
			a := &loop.Agent{Model: script}
			if c.done {
				a.Done = submitTool
			}
			got, result, err := loop.RunAs[invoice](t.Context(), a, loop.Request{Task: "x"})
			if err != nil || got.Total != 9.5 || result.Steps != 2 {
				t.Fatalf("%+v, %+v, %v", got, result, err)
			}
			messages := script.Requests()[1].Messages
			if told := messages[len(messages)-1].Content; !strings.Contains(told, c.want) {
				t.Errorf("the model got %q, want %s", told, c.want)
			}
		})
	}
}

func TestRunAsWithoutAnAnswerIsAnError(t *testing.T) {
	ends := atTool("submit", agent.EndTurn{Reply: "stopped"}, nil)
	changes := agent.BeforeRunEndFunc(func(
		_ context.Context, _ *agent.Run, r agent.AgentResult,
	) (agent.BeforeRunEndOutcome, error) {
		r.Reply = "shortened"
		return agent.ReplaceBeforeRunEnd(r, "r"), nil
	})
	for _, c := range []struct {
		name  string
		turns []looptest.Turn
		done  bool
		hook  agent.Hook
		cause agent.Cause
		reply string
	}{
		{"Rejections", turns(looptest.Reply("a"), looptest.Reply("b"), looptest.Reply("c")), false, nil,
			agent.CauseRetryLimit, "c"},
		{"CallsOfTheDoneTool", turns(
			looptest.Call("submit", nil), looptest.Call("submit", nil), looptest.Call("submit", nil)),
			true, nil, agent.CauseRetryLimit, loop.DefaultFallback},
		{"EndTurn", turns(looptest.Call("submit", goodInvoice)), true, ends, agent.CauseStopRequested, "stopped"},
		{"ChangedReply", turns(looptest.Reply(goodInvoice)), false, changes, agent.CauseCompleted, "shortened"},
		{"Failure", turns(looptest.Error(errBoom)), false, nil, agent.CauseError, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &loop.Agent{Model: looptest.NewScript(c.turns...), Hooks: new(agent.Hooks)}
			if c.done {
				a.Done = submitTool
			}
			if c.hook != nil {
				a.Hooks.Use(c.hook)
			}
			got, result, err := loop.RunAs[invoice](t.Context(), a, loop.Request{Task: "x"})
			var none *loop.NoAnswerError
			if !errors.As(err, &none) || none.Stop.Cause != c.cause || none.Reply != c.reply || got != (invoice{}) ||
				result.Stop.Cause != c.cause {
				t.Errorf("%+v, %+v, %v", got, result, err)
			}
			if c.name == "Failure" && !errors.Is(err, errBoom) {
				t.Errorf("the error lacks its cause: %v", err)
			}
		})
	}
}

func TestRunAsAppliesAfterAHandoff(t *testing.T) {
	expert := looptest.NewScript(looptest.Reply("no"), looptest.Reply(goodInvoice))
	a := &loop.Agent{
		Model:    looptest.NewScript(looptest.Call("transfer_to_expert", nil)),
		Handoffs: []*loop.Agent{{Name: "expert", Model: expert}},
	}
	got, _, err := loop.RunAs[invoice](t.Context(), a, loop.Request{Task: "x"})
	if err != nil || got.Number != "A1" || len(expert.Requests()) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRunAsLeavesSubagentsAlone(t *testing.T) {
	helper := looptest.NewScript(looptest.Reply("plain text"))
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("helper", `{"task":"t"}`), looptest.Reply(goodInvoice)),
		Tools: tools(loop.Subagent(&loop.Agent{Name: "helper", Model: helper})),
	}
	if _, _, err := loop.RunAs[invoice](t.Context(), a, loop.Request{Task: "x"}); err != nil {
		t.Fatal(err)
	}
	if helper.Requests()[0].ResponseFormat != nil {
		t.Error("the sub-agent got the response format")
	}
}

func TestRunAsTakesOnlyObjects(t *testing.T) {
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("1")), Hooks: new(agent.Hooks)}
	rec := hooktest.Record(a.Hooks.Points())
	if _, _, err := loop.RunAs[int](t.Context(), a, loop.Request{}); err == nil || !strings.Contains(err.Error(), "int") {
		t.Errorf("%v", err)
	}
	if _, _, err := loop.RunAs[chan int](t.Context(), a, loop.Request{}); err == nil {
		t.Error("no error")
	}
	rec.Times(t, "OnRunStart", 0)
}

func TestASuspendedRunKeepsItsType(t *testing.T) {
	s := suspendable()["OneCall"]()
	s.turns = map[string][]looptest.Turn{"main": turns(
		looptest.Call("pay", nil), looptest.Reply("no"), looptest.Reply(goodInvoice))}
	s.person = later()
	_, result, err := loop.RunAs[invoice](t.Context(), s.process(), loop.Request{Task: "x"})
	var none *loop.NoAnswerError
	if !errors.As(err, &none) || none.Stop.Cause != agent.CauseSuspended || !errors.Is(err, loop.ErrSuspended) ||
		errors.Is(err, loop.ErrNotStarted) {
		t.Fatalf("%+v, %v", result, err)
	}
	state := sent(t, result.Suspended)
	got, _, err := loop.RunAs[invoice](t.Context(), s.process(), loop.Request{
		Suspended: &state, Answers: []loop.Answer{loop.AnswerTo(state.Questions[0], yes())},
	})
	if err != nil || got.Number != "A1" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestResumeKeepsTheTypeOfTheAnswer(t *testing.T) {
	main := func(all ...looptest.Turn) map[string][]looptest.Turn { return map[string][]looptest.Turn{"main": all} }
	pay, submit := looptest.Call("pay", nil), func(args string) looptest.Turn { return looptest.Call("submit", args) }
	wrong, right := looptest.Reply("no"), looptest.Reply(goodInvoice)
	for _, c := range []struct {
		name, site string
		done       agent.ToolSchema
		turns      map[string][]looptest.Turn
	}{
		{"ResponseFormat", "OneCall", agent.ToolSchema{}, main(pay, wrong, right)},
		{"DoneTool", "OneCall", submitTool, main(pay, submit(`{"number":"A1"}`), submit(goodInvoice))},
		{"Target", "HandoffTarget", agent.ToolSchema{}, map[string][]looptest.Turn{
			"main": turns(looptest.Call("transfer_to_other", nil)), "other": turns(pay, wrong, right),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := suspendable()[c.site]()
			s.turns, s.person = c.turns, later()
			process := func() *loop.Agent {
				a := s.process()
				a.Done = c.done
				return a
			}
			_, result, err := loop.RunAs[invoice](t.Context(), process(), loop.Request{Task: "x"})
			if !errors.Is(err, loop.ErrSuspended) {
				t.Fatal(err)
			}
			state := sent(t, result.Suspended)
			got, err := looptest.Ended(process().Resume(t.Context(), state, loop.AnswerTo(state.Questions[0], yes())))
			if err != nil || got.Reply != goodInvoice || got.Stop.Cause != agent.CauseCompleted {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestStateWithAnImpossibleTypeIsRefused(t *testing.T) {
	s := suspendable()["OneCall"]()
	s.person = later()
	_, result, err := loop.RunAs[invoice](t.Context(), s.process(), loop.Request{Task: "x"})
	if !errors.Is(err, loop.ErrSuspended) {
		t.Fatal(err)
	}
	state := sent(t, result.Suspended)
	reseal(&state, `"schema":{"type":"object"`, `"schema":{"type":[{}]`)
	_, err = looptest.Ended(s.process().Resume(t.Context(), state, loop.AnswerTo(state.Questions[0], yes())))
	if !errors.Is(err, loop.ErrNotStarted) || !strings.Contains(err.Error(), "type") {
		t.Error(err)
	}
}

type wideAnswerWithANameThatIsLongerThanTheSixtyFourCharactersThatProvidersAccept struct {
	Value any `json:"value"`
}

type recursive struct {
	Next *recursive `json:"next"`
}

type list struct {
	Items []struct {
		Name string `json:"name"`
		Note string `json:"note,omitempty"`
	} `json:"items"`
}

type strict struct {
	Items []struct {
		Name string `json:"name"`
	} `json:"items"`
	In struct {
		N int `json:"n"`
	} `json:"in"`
}

// answerFormat runs an agent and returns the format of its first request.
func answerFormat[T any](t *testing.T, reply string) *agent.ResponseFormat {
	t.Helper()
	script := looptest.NewScript(looptest.Reply(reply))
	if _, _, err := loop.RunAs[T](t.Context(), &loop.Agent{Model: script}, loop.Request{Task: "x"}); err != nil {
		t.Fatal(err)
	}
	return script.Requests()[0].ResponseFormat
}

func TestFormatOfAnAnswerFollowsItsType(t *testing.T) {
	type wide = wideAnswerWithANameThatIsLongerThanTheSixtyFourCharactersThatProvidersAccept
	for _, c := range []struct {
		name   string
		format *agent.ResponseFormat
		want   string
		strict bool
	}{
		{"LongName", answerFormat[wide](t, `{"value":1}`), "answer", true},
		{"NoName", answerFormat[struct{ A string }](t, `{"A":"x"}`), "answer", true},
		{"OptionalInAList", answerFormat[list](t, `{"items":[{"name":"x"}]}`), "list", false},
		{"AllRequired", answerFormat[strict](t, `{"items":[{"name":"x"}],"in":{"n":1}}`), "strict", true},
		{"Map", answerFormat[map[string]int](t, `{"a":1}`), "answer", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.format.Name != c.want || c.format.Strict != c.strict {
				t.Errorf("the name is %s, strict %t; want %s, %t", c.format.Name, c.format.Strict, c.want, c.strict)
			}
		})
	}
}

func TestTypesThatNoAnswerHasAreErrors(t *testing.T) {
	model := looptest.NewScript(looptest.Reply("never"))
	req := loop.Request{Task: "x"}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"List":      {second(loop.RunAs[[]string](t.Context(), &loop.Agent{Model: model}, req)), "its JSON is not an object"},
		"Function":  {second(loop.RunAs[func()](t.Context(), &loop.Agent{Model: model}, req)), "cannot be a func()"},
		"Recursive": {second(loop.RunAs[recursive](t.Context(), &loop.Agent{Model: model}, req)), "use a struct"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", c.err, c.want)
			}
		})
	}
	if n := len(model.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// second returns the error of RunAs.
func second[T any](_ T, _ agent.AgentResult, err error) error { return err }

func TestDeepAnswersAreRejected(t *testing.T) {
	deep := `{"value":` + strings.Repeat("[", 1100) + strings.Repeat("]", 1100) + "}"
	script := looptest.NewScript(looptest.Reply(deep), looptest.Reply(`{"value":1}`))
	type open struct {
		Value any `json:"value"`
	}
	if _, _, err := loop.RunAs[open](t.Context(), &loop.Agent{Model: script}, loop.Request{Task: "x"}); err != nil {
		t.Fatal(err)
	}
	messages := script.Requests()[1].Messages
	if told := messages[len(messages)-1].Content; !strings.Contains(told, "levels; use fewer") {
		t.Errorf("the model got %q", told)
	}
}

func TestATypedRunMustStart(t *testing.T) {
	_, result, err := loop.RunAs[struct{ N int }](t.Context(), &loop.Agent{}, loop.Request{Task: "x"})
	if !errors.Is(err, loop.ErrNotStarted) || result.Steps != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestStreamAsWritesTheAnswerBeforeTheEnd(t *testing.T) {
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply(`{"number":1}`), looptest.Reply(goodInvoice))}
	var got invoice
	var kinds []loop.EventKind
	for e, err := range loop.StreamAs(t.Context(), a, loop.Request{Task: "x"}, &got) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Kind)
		if want := e.Kind == loop.EventEnd; (got != invoice{}) != want {
			t.Errorf("at the event %s the answer is %+v", e.Kind, got)
		}
	}
	want := []loop.EventKind{
		loop.EventStep, loop.EventChunk, loop.EventReply, loop.EventStep, loop.EventChunk, loop.EventReply, loop.EventEnd,
	}
	if !slices.Equal(kinds, want) || got != (invoice{"A1", 9.5, "x"}) {
		t.Errorf("%v, %+v", kinds, got)
	}
}

func TestStreamAsWithoutAnAnswerIsAnError(t *testing.T) {
	kept := invoice{Number: "before"}
	stops := func(ctx context.Context, _ *agent.Run, _ agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		return agent.EndTurn{Reply: "enough"}, nil
	}
	ended := &loop.Agent{Model: looptest.NewScript(), Hooks: loop.Hooks(agent.BeforeLLMFunc(stops))}
	for name, c := range map[string]struct {
		a    *loop.Agent
		into *invoice
		is   error
		no   bool // the error is a *NoAnswerError
	}{
		"EndedByAHook":  {ended, &kept, nil, true},
		"ModelFails":    {&loop.Agent{Model: looptest.NewScript()}, &kept, nil, true},
		"NoPlace":       {&loop.Agent{Model: looptest.NewScript()}, nil, loop.ErrNotStarted, false},
		"NoModel":       {&loop.Agent{}, &kept, loop.ErrNotStarted, false},
		"AgentIsNilToo": {nil, &kept, loop.ErrNotStarted, false},
	} {
		t.Run(name, func(t *testing.T) {
			var last error
			for _, err := range loop.StreamAs(t.Context(), c.a, loop.Request{Task: "x"}, c.into) {
				if last != nil {
					t.Errorf("an event follows the error %v", last)
				}
				last = err
			}
			no := new(loop.NoAnswerError)
			if last == nil || errors.As(last, &no) != c.no || c.is != nil && !errors.Is(last, c.is) {
				t.Errorf("the error is %v", last)
			}
			if kept != (invoice{Number: "before"}) {
				t.Errorf("the answer is %+v", kept)
			}
		})
	}
}

func TestStreamAsIsCancelledWhenTheReaderStops(t *testing.T) {
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply(goodInvoice))}
	var got invoice
	for range loop.StreamAs(t.Context(), a, loop.Request{Task: "x"}, &got) {
		break
	}
	if got != (invoice{}) {
		t.Errorf("a run whose reader has stopped wrote %+v", got)
	}
}
