package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// The variants of made payloads: ordinary ones, empty ones, and hostile ones.
const (
	ordinary = iota
	empty
	long
	noUTF8
	noJSON
	nested
	control
	negative
	variants // how many there are
)

// made returns a payload of the type: the same value each time, sharing memory with none.
func made[P any](variant int) P {
	var p P
	if variant != empty {
		fillValue(reflect.ValueOf(&p).Elem(), variant, 0)
	}
	return p
}

// fillValue fills a value: two elements in each slice and map, the texts of the variant.
func fillValue(v reflect.Value, variant, depth int) {
	if depth > 6 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(madeText(variant))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(map[bool]int64{true: -7, false: 3}[variant == negative])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(map[bool]float64{true: -1.5, false: 0.5}[variant == negative])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		if depth < 3 {
			v.Set(reflect.New(v.Type().Elem()))
			fillValue(v.Elem(), variant, depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(madeArgs(variant)))
			return
		}
		if depth < 4 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			for i := range 2 {
				fillValue(v.Index(i), variant, depth+1)
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type().Key().Kind() == reflect.String {
			value := reflect.New(v.Type().Elem()).Elem()
			fillValue(value, variant, depth+1)
			v.SetMapIndex(reflect.ValueOf(madeText(variant)).Convert(v.Type().Key()), value)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(madeText(variant)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillValue(v.Field(i), variant, depth+1)
			}
		}
	}
}

func madeText(variant int) string {
	switch variant {
	case long:
		return strings.Repeat("ä long text ", 2000)
	case noUTF8:
		return "a\xff\xfe\xc3z"
	case noJSON, nested:
		return `{"broken": [`
	case control:
		return "a\x00\x1b[2J\u202e\r\nb"
	}
	return "look"
}

func madeArgs(variant int) string {
	switch variant {
	case long:
		return `{"text":"` + strings.Repeat("x", 20_000) + `"}`
	case noUTF8:
		return "{\"a\":\"\xff\"}"
	case noJSON:
		return `{"broken": [`
	case nested:
		return strings.Repeat(`{"a":[`, 500) + strings.Repeat(`]}`, 500)
	case control:
		return "{\"a\\u0000\":\"\\u001b[2J\"}"
	case negative:
		return `[-1, 1e400, null, true]`
	}
	return `{"at":"a","n":1}`
}

// difference returns where two values differ, "" for nowhere.
func difference(at string, a, b reflect.Value) string {
	if a.Kind() != b.Kind() {
		return at
	}
	switch a.Kind() {
	case reflect.Invalid:
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).IsExported() {
				if where := difference(at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); where != "" {
					return where
				}
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return at
		}
		for i := range a.Len() {
			if where := difference(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i)); where != "" {
				return where
			}
		}
		return ""
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return at
			}
			return ""
		}
		return difference(at, a.Elem(), b.Elem())
	}
	if !reflect.DeepEqual(a.Interface(), b.Interface()) {
		return at
	}
	return ""
}

// newEnv returns an environment in which every hook finds what it may reach for.
func newEnv() *agent.Env {
	env := &agent.Env{
		Agent: "checked", Model: alwaysReplies{}, Tools: oneTool{}, Conversation: twoMessages{}, Random: rand.NewPCG(1, 2), Seed: 1,
		Clock: stoppedClock{},
	}
	env.Counters = func() agent.Counters { return agent.Counters{Step: 3, MaxSteps: 20, ModelCalls: 3, ToolCalls: 2} }
	env.Exceeded = func(context.Context, agent.BudgetExceeded) {}
	env.RequestCompaction = func(string) {}
	env.UseCompactor = func(agent.Compactor) {}
	env.Subscribe = func(func(agent.Chunk)) func() { return func() {} }
	return env
}

type alwaysReplies struct{}

func (alwaysReplies) Generate(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
	return agent.LLMResponse{Content: "reply", FinishReason: "stop"}, ctx.Err()
}

// stoppedClock always shows the same time: a hook that sleeps wakes only when its context is done.
type stoppedClock struct{}

func (stoppedClock) Now() time.Time { return time.Unix(1_700_000_000, 0) }

func (stoppedClock) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		<-ctx.Done()
	}
	return ctx.Err()
}

type oneTool struct{}

func (oneTool) Lookup(name string) (agent.ToolSchema, bool) {
	return agent.ToolSchema{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`)}, name == "look"
}
func (t oneTool) Schemas() []agent.ToolSchema { s, _ := t.Lookup("look"); return []agent.ToolSchema{s} }
func (oneTool) Add(agent.Tool) error          { return errors.New("the run is over") }

type twoMessages struct{}

func (twoMessages) ID() string { return "conversation" }
func (twoMessages) Messages() []agent.Message {
	return []agent.Message{{Role: agent.RoleUser, Content: "go"}, {Role: agent.RoleAssistant, Content: "going"}}
}

// loopReplies are the model's replies in the checked run: good, failing, unknown and malformed tool calls, then an answer.
var loopReplies = []agent.LLMResponse{
	{FinishReason: "tool_calls", ToolCalls: []agent.ToolCallRequest{
		{ID: "call_1", Name: "look", Args: json.RawMessage(`{"at":"a"}`)},
		{ID: "call_2", Name: "fail", Args: json.RawMessage(`{}`)},
		{ID: "call_3", Name: "unknown", Args: json.RawMessage(`{}`)},
	}},
	{FinishReason: "tool_calls", ToolCalls: []agent.ToolCallRequest{
		{ID: "call_4", Name: "look", Args: json.RawMessage(`not JSON`)},
	}},
	{FinishReason: "stop", Content: "done"},
}

// replies is a model that gives its replies in order and then fails. The checked hook may call it too.
type replies struct {
	all  []agent.LLMResponse
	next atomic.Int64
}

func (r *replies) Generate(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
	at := int(r.next.Add(1)) - 1
	if at >= len(r.all) {
		return agent.LLMResponse{}, errors.New("no reply is left")
	}
	return r.all[at].Clone(), ctx.Err()
}

func (r *replies) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	reply, err := r.Generate(ctx, req)
	if err == nil {
		emit(agent.Delta{Content: reply.Content})
	}
	return reply, err
}
