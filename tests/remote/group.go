package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/remote/acts"
)

// A group is some hooks of one point that are in the same process.
type group struct {
	name     string
	priority int
	remote   bool
	acts     []acts.Act
	hooks    []hookkit.AnyHook // of the acts
}

// drawGroup draws hooks that always do the same.
func drawGroup(t *rapid.T, p hookkit.AnyPoint, name string) *group {
	g := &group{
		name:     name,
		priority: rapid.IntRange(-1, 1).Draw(t, "priority"),
		remote:   rapid.IntRange(1, 3).Draw(t, "remote") > 1,
	}
	for range rapid.IntRange(1, 3).Draw(t, "hooks") {
		a := drawAct(t, p)
		g.acts, g.hooks = append(g.acts, a), append(g.hooks, hookOf(t, p, a))
	}
	return g
}

// add registers the hooks at a point. They append their calls to the effect.
func (g *group) add(p hookkit.AnyPoint, to *effect) {
	p.HandleFailures(func(context.Context, *hookkit.Failure) {})
	for n, hook := range g.hooks {
		p.AddAny(func(ctx context.Context, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
			to.Calls = append(to.Calls, call{g.hookName(n), run.ID(), run.Parent(), run.Root(), c.Payload})
			return hook(ctx, run, c)
		}, hookkit.Named(g.name), hookkit.Priority(g.priority))
	}
}

// elsewhere returns a caller for the hooks in another process. It appends their calls to the effect.
func (g *group) elsewhere(t *rapid.T, host wire.Caller, p hookkit.AnyPoint, to *effect) wire.Caller {
	called := func(c acts.Call) {
		payload := reflect.New(reflect.TypeOf(p.New()).Elem())
		if err := json.Unmarshal(c.Payload, payload.Interface()); err != nil {
			t.Error(err)
		}
		to.Calls = append(to.Calls, call{g.hookName(c.Hook), c.Run, c.Parent, c.Root, payload.Elem().Interface()})
	}
	return acts.Elsewhere{To: host, Group: acts.Group{Name: g.name, Point: p.Name, Acts: g.acts}, Called: called}
}

func (g *group) hookName(n int) string { return fmt.Sprint(g.name, " hook ", n) }

// A Caller is a transport without a network: every message is written and read as JSON.
type Caller struct {
	Name string
	To   wire.Handler
}

func (c Caller) String() string { return c.Name }

func (c Caller) Describe(ctx context.Context) (wire.Description, error) { return c.To.Describe(ctx) }

func (c Caller) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return wire.Reply{}, err
	}
	var request wire.Request
	if err := wire.UnmarshalRequest(ctx, text, &request); err != nil {
		return wire.Reply{}, err
	}
	reply, err := c.To.Call(ctx, request)
	if err != nil {
		return wire.Reply{}, err
	}
	if text, err = json.Marshal(reply); err != nil {
		return wire.Reply{}, err
	}
	var read wire.Reply
	return read, wire.UnmarshalReply(ctx, text, &read)
}

// DrawHook draws a hook that always does the same at p: it continues, decides, contributes, fails or panics.
func DrawHook(t *rapid.T, p hookkit.AnyPoint) hookkit.AnyHook { return hookOf(t, p, drawAct(t, p)) }

func hookOf(t *rapid.T, p hookkit.AnyPoint, a acts.Act) hookkit.AnyHook {
	h, err := a.Hook(p)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func drawAct(t *rapid.T, p hookkit.AnyPoint) acts.Act {
	a := acts.Act{Outcome: -1}
	if p.Contribution != nil {
		values := reflect.New(reflect.SliceOf(p.Contribution)).Elem()
		for range rapid.IntRange(0, 3).Draw(t, "contributions") {
			values = reflect.Append(values, DrawValue(t, p.Contribution, "contribution"))
		}
		if values.Len() > 0 {
			a.Contributions = encode(t, values)
		}
	}
	switch n := rapid.IntRange(-2, len(p.Outcomes)).Draw(t, "act"); {
	case n == -2:
		a.Panics = true
	case n == -1:
		a.Fails = true
	case n < len(p.Outcomes):
		a.Outcome, a.Value = n, encode(t, DrawValue(t, p.Outcomes[n].Type, "value"))
		a.Reason = rapid.String().Draw(t, "reason")
	}
	return a
}

func encode(t *rapid.T, v reflect.Value) json.RawMessage {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	return text
}
