// Package acts describes hooks that always do the same, so that a test of transports can place them in another process.
//
// The other process answers with a [Host], and the test reaches it with an [Elsewhere]. The package imports no test
// library, because it is a part of programs in a sandbox.
package acts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// An Act is the behaviour of a hook at a point: it panics, fails, or replies.
type Act struct {
	Panics, Fails bool
	Outcome       int             // an index of the outcomes of the point; -1 to continue
	Value         json.RawMessage // of the outcome
	Reason        string          // of the outcome
	Contributions json.RawMessage `json:",omitempty"` // a list, unless nil
}

// Hook returns the hook.
func (a Act) Hook(p hookkit.AnyPoint) (hookkit.AnyHook, error) {
	var reply hookkit.AnyReply
	if a.Contributions != nil {
		values := reflect.New(reflect.SliceOf(p.Contribution))
		if err := json.Unmarshal(a.Contributions, values.Interface()); err != nil {
			return nil, err
		}
		reply.Collected = values.Elem().Interface()
	}
	if a.Outcome >= 0 {
		o := p.Outcomes[a.Outcome]
		value := reflect.New(o.Type)
		err := json.Unmarshal(a.Value, value.Interface())
		if err == nil {
			reply.Outcome, err = o.New(value.Elem().Interface(), a.Reason)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
		switch {
		case a.Panics:
			panic("failed")
		case a.Fails:
			return hookkit.AnyReply{}, errors.New("failed")
		}
		return reply, nil
	}, nil
}

// A Group is some hooks of one point.
type Group struct {
	Name, Point string
	Acts        []Act
}

// A Call is one call of a hook in another process.
type Call struct {
	Hook              int // its index in the group
	Run, Parent, Root string
	Payload           json.RawMessage
}

// Host returns a handler that has no hooks until an [Elsewhere] sends a group. The function returns the points of new
// Hooks, and a handler for them.
func Host(hooks func() ([]hookkit.AnyPoint, wire.Handler)) wire.Handler {
	return &host{hooks: hooks, groups: map[string]wire.Handler{}}
}

type host struct {
	hooks  func() ([]hookkit.AnyPoint, wire.Handler)
	groups map[string]wire.Handler
	calls  []Call // since they were last asked for
}

const label = "group"

func (*host) Describe(context.Context) (wire.Description, error) {
	return wire.Description{}, errors.New("a Host has the hooks that it is sent")
}

// Call answers for a group, or, without a point, makes a group or returns the calls.
func (h *host) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if q.Point != "" {
		return h.groups[q.Run.Labels[label]].Call(ctx, q)
	}
	var answer any = h.calls
	if string(q.Payload) == "null" {
		h.calls = nil
	} else {
		var g Group
		err := json.Unmarshal(q.Payload, &g)
		if err == nil {
			answer, err = h.place(ctx, g)
		}
		if err != nil {
			return wire.Reply{}, err
		}
	}
	text, err := json.Marshal(answer)
	return wire.Reply{Value: text}, err
}

// place registers the hooks of a group and returns their description.
func (h *host) place(ctx context.Context, g Group) (d wire.Description, err error) {
	points, handler := h.hooks()
	for _, p := range points {
		if p.Name != g.Point {
			continue
		}
		p.HandleFailures(func(context.Context, *hookkit.Failure) {})
		for i, a := range g.Acts {
			hook, err := a.Hook(p)
			if err != nil {
				return d, err
			}
			p.AddAny(func(ctx context.Context, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
				text, err := json.Marshal(c.Payload)
				if err != nil {
					return hookkit.AnyReply{}, err
				}
				h.calls = append(h.calls, Call{i, run.ID(), run.Parent(), run.Root(), text})
				return hook(ctx, run, c)
			})
		}
	}
	h.groups[g.Name] = handler
	return handler.Describe(ctx)
}

// An Elsewhere is a caller for a group in another process, which has a [Host].
type Elsewhere struct {
	To     wire.Caller
	Group  Group
	Called func(Call) // is told of each call of a hook
}

func (e Elsewhere) String() string { return e.Group.Name }

// Describe sends the group.
func (e Elsewhere) Describe(ctx context.Context) (d wire.Description, err error) {
	err = e.control(ctx, e.Group, &d)
	return d, err
}

// Call implements [wire.Caller].
func (e Elsewhere) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	q.Run.Labels = map[string]string{label: e.Group.Name}
	reply, err := e.To.Call(ctx, q)
	if err != nil {
		return reply, err
	}
	var calls []Call
	err = e.control(ctx, nil, &calls)
	for _, c := range calls {
		e.Called(c)
	}
	return reply, err
}

func (e Elsewhere) control(ctx context.Context, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	reply, err := e.To.Call(ctx, wire.Request{Protocol: wire.Protocol, Payload: text})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply.Value, answer); err != nil {
		return fmt.Errorf("%w: %s", err, reply.Value)
	}
	return nil
}
