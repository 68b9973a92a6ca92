// Package remote checks, for the generated code of any spec, that hooks of other processes have the effect of the same
// hooks in this one. Its tests draw specs; the tests of the runtime check the fixture.
//
// Start with [Of] and [System.Check].
package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A System is the generated code of one spec, without its types.
type System struct {
	new  func() hooks
	host wire.Caller // of the services; nil for services without a transport
}

// hooks are generated Hooks.
type hooks struct {
	points  func() []hookkit.AnyPoint
	serve   func() wire.Handler
	connect func(context.Context, wire.Caller, hookkit.UseOption) error
}

// Of returns the System for the generated functions Serve and Remote.
func Of[H interface {
	Points() []hookkit.AnyPoint
	Use(K, ...hookkit.UseOption) *hookkit.Registration
}, K, R any](
	serve func(H, func(context.Context, wire.RunInfo) (R, error)) wire.Handler,
	remote func(context.Context, wire.Caller, ...wire.RemoteOption) (K, error),
) System {
	return System{new: func() hooks {
		h := reflect.New(reflect.TypeFor[H]().Elem()).Interface().(H)
		return hooks{
			points: h.Points,
			serve:  func() wire.Handler { return serve(h, nil) },
			connect: func(ctx context.Context, service wire.Caller, opt hookkit.UseOption) error {
				hook, err := remote(ctx, service)
				if err == nil {
					h.Use(hook, opt)
				}
				return err
			},
		}
	}}
}

// In returns the System with its services in another process, which has an [acts.Host].
func (s System) In(host wire.Caller) System {
	s.host = host
	return s
}

// Check draws hooks and payloads for each point. It fires the point with the hooks in this process, and with some of
// them in services that receive and send JSON. The hooks must be called in the same order with the same payloads, and
// the results must be the same. The points with the given names must have no messages.
func (s System) Check(t *testing.T, without ...string) {
	for i, point := range s.new().points() {
		t.Run(point.Name, func(t *testing.T) {
			if served, want := s.served(t, i), !slices.Contains(without, point.Name); served != want {
				t.Fatalf("the point has messages: %v, want %v", served, want)
			} else if served {
				rapid.Check(t, func(t *rapid.T) { s.checkFire(t, i) })
			}
		})
	}
}

// served reports whether a point has messages.
func (s System) served(t *testing.T, i int) bool {
	h := s.new()
	p := h.points()[i]
	p.AddAny(func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
		return hookkit.AnyReply{}, nil
	})
	d, err := h.serve().Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(d.Points, p.Name)
}

// checkFire draws groups of hooks and fires a point twice: with all groups in this process, and with some in services.
func (s System) checkFire(t *rapid.T, i int) {
	local, host := s.new(), s.new()
	point := local.points()[i]
	here, there := new(effect), new(effect)
	groups := map[string]*group{}
	for n := range rapid.IntRange(1, 4).Draw(t, "groups") {
		g := drawGroup(t, point, fmt.Sprint("group ", n))
		groups[g.name] = g
		g.add(point, here)
		if !g.remote {
			g.add(host.points()[i], there)
			continue
		}
		var caller wire.Caller
		if s.host != nil {
			caller = g.elsewhere(t, s.host, point, there)
		} else {
			service := s.new()
			g.add(service.points()[i], there)
			caller = Caller{g.name, service.serve()}
		}
		if err := host.connect(t.Context(), caller, hookkit.Priority(g.priority)); err != nil {
			t.Fatal(err)
		}
	}
	run := point.ResumeRun("run", "parent", "root")
	payload := DrawValue(t, reflect.TypeOf(point.New()).Elem(), "payload").Interface()
	here.fire(t, point, run, payload)
	there.fire(t, host.points()[i], run, payload)

	here.Ballots = onePerService(here.Ballots, point, groups)
	if by := groups[here.By]; by != nil && by.remote && len(by.hooks) > 1 {
		here.asOneHook(there)
	}
	if here.failed {
		quoted := strings.Trim(strconv.Quote(here.Reason), `"`) // in the error that a service replied with
		if !strings.Contains(there.Reason, here.Reason) && !strings.Contains(there.Reason, quoted) {
			t.Errorf("the failure is %q; it should contain %q", there.Reason, here.Reason)
		}
		here.Reason, there.Reason = "", ""
		here.Collected, there.Collected = nil, nil // the program gets the error alone
	}
	compare(t, *there, *here)
}

// asOneHook changes the effect of hooks to that of a service with the same hooks, which replies with one decision. The
// edit of a payload that another of its hooks replaced is a replacement. An exit comes without the replacements before
// it, and a failure without the votes.
func (e *effect) asOneHook(replied *effect) {
	if e.Decision == hookkit.DecisionEdit && replied.Decision == hookkit.DecisionReplace {
		e.Decision = hookkit.DecisionReplace
	}
	if e.Exit != nil || e.failed {
		e.Final, replied.Final = nil, nil
	}
	if e.failed {
		e.Ballots = append([]ballot(nil), slices.DeleteFunc(e.Ballots, func(b ballot) bool { return b.Group == e.By })...)
	}
}

// compare reports the fields in which two effects differ.
func compare(t *rapid.T, got, want effect) {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		f := g.Type().Field(i)
		if f.IsExported() && !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s: %s, in one process %s", f.Name, describe(g.Field(i)), describe(w.Field(i)))
		}
	}
}

// describe formats a value as JSON, and as Go, because only the latter distinguishes nil from an empty value.
func describe(v reflect.Value) string {
	text, err := json.Marshal(v.Interface())
	return fmt.Sprintf("%s %v (%#v)", text, err, v.Interface())
}

// An effect is all that a fire does.
type effect struct {
	Calls                  []call // of the hooks, in order
	Final, Exit, Collected any
	By, Decision, Reason   string
	Ballots                []ballot

	failed bool // Fire returned an error, which is the Reason
}

// A call is one call of a hook.
type call struct {
	Hook              string
	Run, Parent, Root string
	Payload           any
}

// A ballot is the vote of a group.
type ballot struct {
	Group, Reason string
	Exit          any
}

// fire fires a point and adds the results to the calls.
func (e *effect) fire(t *rapid.T, p hookkit.AnyPoint, run hookkit.AnyRun, payload any) {
	p.HandleFailures(func(context.Context, *hookkit.Failure) {})
	fired, err := p.Fire(t.Context(), run, payload)
	e.Final, e.Exit, e.Collected, e.failed = fired.Final, fired.Exit, fired.Collected, err != nil
	e.By, e.Decision, e.Reason = strings.TrimPrefix(fired.Hook, "remote "), fired.Decision, fired.Reason
	for _, b := range fired.Ballots {
		e.Ballots = append(e.Ballots, ballot{strings.TrimPrefix(b.Hook, "remote "), b.Reason, b.Exit})
	}
}

// onePerService keeps one ballot for each service, because a service votes once: the strongest, and of equal ones the
// first.
func onePerService(all []ballot, p hookkit.AnyPoint, groups map[string]*group) []ballot {
	strength := func(b ballot) int {
		return slices.IndexFunc(p.Outcomes, func(o hookkit.Outcome) bool { return o.Type == reflect.TypeOf(b.Exit) })
	}
	var kept []ballot
	for _, b := range all {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].Group != b.Group || !groups[b.Group].remote:
			kept = append(kept, b)
		case strength(b) < strength(kept[last]):
			kept[last] = b
		}
	}
	return kept
}
