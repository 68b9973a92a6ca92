package record

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A View computes a value from the fires of runs, such as counts or a list. Use it as a hook, and it sees runs as they
// happen; or give it to [Read] with the events of a record, and it computes the same value later. A view decides
// nothing, is safe for concurrent use, and sees each fire once even if it is bound twice. It must not be copied.
type View interface {
	agent.Hook
	points() []string // the points that it reads
	see(ctx context.Context, e event)
}

// An event is a fire, as views see it.
type event struct {
	agent.Identity
	run, parent, root string
	agent, resumed    string // of the RunStart of the run
	at                time.Time
	payload, final    any // final is the payload as the hooks left it
	exit              any // nil: none
	collected         []string
	err               string     // of the fire
	of                *agent.Run // nil: the event is from a record
}

// Read passes the events of a record to views, in order. For example, metrics of last week:
//
//	var metrics record.Metrics
//	err := record.Read(ctx, hooklog.Read(file), &metrics)
//
// Events of other specs, and of points that no view reads, are skipped. So are lines that cannot be read, for example
// one that a killed program left; the error is that of the first. Read stops if the context is done. It needs memory
// for the runs that have not ended, not for the record.
func Read(ctx context.Context, events iter.Seq2[hooklog.Event, error], views ...View) error {
	points := make(map[string]hookkit.AnyPoint)
	for _, p := range new(agent.Hooks).Points() {
		points[p.Name] = p
	}
	starts := make(map[string]agent.RunStart) // of runs that have not ended, by their IDs
	var unread error
	for e, err := range events {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		point, known := points[e.Point]
		wanted := slices.ContainsFunc(views, func(v View) bool { return slices.Contains(v.points(), e.Point) })
		if !known || e.Spec != point.Spec || !wanted && e.Point != "OnRunStart" && e.Point != "OnRunEnd" {
			continue
		}
		seen, err := decoded(e.Whole(), point)
		if err != nil {
			unread = cmp.Or(unread, fmt.Errorf("the event %d of %s: %w", e.Seq, e.Point, err))
			continue
		}
		if start, ok := seen.payload.(agent.RunStart); ok {
			starts[e.Run.ID] = agent.RunStart{Agent: start.Agent, Resumed: start.Resumed}
		}
		seen.agent, seen.resumed = starts[e.Run.ID].Agent, starts[e.Run.ID].Resumed
		if e.Point == "OnRunEnd" {
			delete(starts, e.Run.ID)
		}
		for _, v := range views {
			if slices.Contains(v.points(), e.Point) {
				v.see(ctx, seen)
			}
		}
	}
	return unread
}

// decoded returns a recorded event with the types of its point.
func decoded(e hooklog.Event, point hookkit.AnyPoint) (event, error) {
	value := func(text json.RawMessage) (any, error) {
		into := point.New()
		if err := json.Unmarshal(text, into); err != nil {
			return nil, err
		}
		return reflect.ValueOf(into).Elem().Interface(), nil
	}
	labels := e.Run.Labels
	seen := event{
		Identity: agent.Identity{
			Tenant: labels["tenant"], User: labels["user"],
			Conversation: cmp.Or(labels["conversation"], "run "+e.Run.Root),
		},
		run: e.Run.ID, parent: e.Run.Parent, root: e.Run.Root, at: e.Time, err: e.Error,
	}
	var err error
	if seen.payload, err = value(e.Payload); err != nil {
		return seen, err
	}
	seen.final = seen.payload
	if len(e.Final) > 0 {
		if seen.final, err = value(e.Final); err != nil {
			return seen, err
		}
	}
	for _, o := range e.Omitted {
		if o.List == "messages" {
			seen.payload, seen.final = withGap(seen.payload, o.Count), withGap(seen.final, o.Count)
			break
		}
	}
	_ = json.Unmarshal(e.Collected, &seen.collected) // other points than Briefing collect no texts
	for _, o := range point.Outcomes {
		if o.Name == e.Decision && len(e.Value) > 0 {
			into := reflect.New(o.Type)
			err = json.Unmarshal(e.Value, into.Interface())
			seen.exit = into.Elem().Interface()
		}
	}
	return seen, err
}

// withGap returns a payload with a message that says how many messages before its own are not in the record.
func withGap(payload any, n int) any {
	gap := []agent.Message{{Role: agent.RoleSystem, Content: fmt.Sprintf("(%d messages are not in the record)", n)}}
	switch p := payload.(type) {
	case agent.LLMRequest:
		p.Messages = append(gap, p.Messages...)
		return p
	case agent.AgentResult:
		p.Messages = append(gap, p.Messages...)
		return p
	}
	return payload
}

// byRun has what a view keeps of the runs that have not ended, by their IDs. The zero value is empty.
type byRun[T any] map[string]*T

// of returns the value of a run, which is zero at first.
func (m *byRun[T]) of(run string) *T {
	if *m == nil {
		*m = make(map[string]*T)
	}
	if (*m)[run] == nil {
		(*m)[run] = new(T)
	}
	return (*m)[run]
}

// take removes the value of a run, and returns it.
func (m *byRun[T]) take(run string) *T {
	v := m.of(run)
	delete(*m, run)
	return v
}

// watch binds a view to live hooks.
type watch struct {
	once kit.OnceObserver
	mu   sync.Mutex // for the values of the view
}

func (w *watch) bind(h *agent.Hooks, name string, v View) {
	as := w.once.Bind()
	points := v.points()
	for _, p := range h.Points() {
		if !slices.Contains(points, p.Name) {
			continue
		}
		see := func(ctx context.Context, of hookkit.AnyRun, fired hookkit.AnyFired) {
			run, _ := of.(*agent.Run)
			if !w.once.First(run, as, fired) {
				return
			}
			e := liveEvent(run)
			e.payload, e.final, e.exit = fired.Payload, fired.Final, fired.Exit
			e.collected, _ = fired.Collected.([]string)
			if fired.Err != nil {
				e.err = fired.Err.Error()
			}
			v.see(ctx, e)
		}
		if p.Results != "" { // hooks decide
			p.ObserveAny(see, hookkit.Named(name))
			continue
		}
		// A hook that only watches sees what an observer does, at a fraction of the cost.
		p.AddAny(func(ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
			see(ctx, run, hookkit.AnyFired{Point: call.Point, Payload: call.Payload, Final: call.Payload})
			return hookkit.AnyReply{}, nil
		}, hookkit.Named(name))
	}
}

// liveEvent returns an event of a live run without a fire.
func liveEvent(run *agent.Run) event {
	e := event{
		Identity: kit.Owner(run), run: run.ID(), parent: run.Parent(), root: run.Root(), agent: kit.Agent(run),
		at: kit.Env(run).Now(), of: run,
	}
	if env := kit.Env(run); env != nil {
		e.resumed = env.Resumed
	}
	return e
}
