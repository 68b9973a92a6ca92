package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A group is some hooks of one point that are in the same process.
type group struct {
	name     string
	priority int
	remote   bool
	hooks    []hookkit.AnyHook
}

// drawGroup draws hooks that always do the same.
func drawGroup(t *rapid.T, p hookkit.AnyPoint, name string) *group {
	g := &group{
		name:     name,
		priority: rapid.IntRange(-1, 1).Draw(t, "priority"),
		remote:   rapid.IntRange(1, 3).Draw(t, "remote") > 1,
	}
	for range rapid.IntRange(1, 3).Draw(t, "hooks") {
		g.hooks = append(g.hooks, DrawHook(t, p))
	}
	return g
}

// add registers the hooks at a point. They append their calls to the effect.
func (g *group) add(p hookkit.AnyPoint, to *effect) {
	p.HandleFailures(func(context.Context, *hookkit.Failure) {})
	for n, hook := range g.hooks {
		p.AddAny(func(ctx context.Context, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
			to.Calls = append(to.Calls, call{fmt.Sprint(g.name, " hook ", n), run.ID(), run.Parent(), run.Root(), c.Payload})
			return hook(ctx, run, c)
		}, hookkit.Named(g.name), hookkit.Priority(g.priority))
	}
}

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
func DrawHook(t *rapid.T, p hookkit.AnyPoint) hookkit.AnyHook {
	var reply hookkit.AnyReply
	var err error
	if p.Contribution != nil {
		values := reflect.New(reflect.SliceOf(p.Contribution)).Elem()
		for range rapid.IntRange(0, 3).Draw(t, "contributions") {
			values = reflect.Append(values, DrawValue(t, p.Contribution, "contribution"))
		}
		if values.Len() > 0 {
			reply.Collected = values.Interface()
		}
	}
	switch n := rapid.IntRange(-2, len(p.Outcomes)).Draw(t, "act"); {
	case n == -2:
		return func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { panic("failed") }
	case n == -1:
		return func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
			return hookkit.AnyReply{}, errors.New("failed")
		}
	case n < len(p.Outcomes):
		o := p.Outcomes[n]
		reply.Outcome, err = o.New(DrawValue(t, o.Type, "value").Interface(), rapid.String().Draw(t, "reason"))
		if err != nil {
			t.Fatal(err)
		}
	}
	return func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { return reply, nil }
}
