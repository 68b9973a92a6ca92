package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// Serve returns the Handler of a generated Serve function. The points are those of a generated Hooks. The function run
// returns a run for the hooks; it is called once for each run of the program, and nil makes runs by spec.Resume. Serve
// panics if JSON cannot hold a payload or a decision of a wire point. Only generated code calls Serve.
func Serve(spec Spec, points []hookkit.PointInfo, run func(context.Context, RunInfo) (hookkit.AnyRun, error)) Handler {
	if run == nil {
		run = func(_ context.Context, info RunInfo) (hookkit.AnyRun, error) { return spec.Resume(info), nil }
	}
	s := &server{spec: spec, points: map[string]hookkit.PointInfo{}, runs: newRuns(run)}
	for _, p := range points {
		if slices.Contains(spec.Points, p.Name) {
			refuseUnencodable(p)
			s.points[p.Name] = p
		}
	}
	return s
}

// A server answers requests by firing points.
type server struct {
	spec   Spec
	points map[string]hookkit.PointInfo
	runs   *runs
}

// Describe lists the points that have hooks or observers now.
func (s *server) Describe(context.Context) (Description, error) {
	d := Description{Protocol: Protocol, Spec: s.spec.Path, Points: []string{}}
	for _, name := range s.spec.Points {
		if p, ok := s.points[name]; ok && len(p.Hooks())+len(p.Observers()) > 0 {
			d.Points = append(d.Points, name)
		}
	}
	return d, nil
}

// Call fires the point that the request names.
func (s *server) Call(ctx context.Context, q Request) (reply Reply, _ error) {
	defer func() {
		if v := recover(); v != nil {
			reply = Reply{Error: fmt.Sprintf("wire: a panic at %s: %v", q.Point, v)}
		}
	}()
	reply, err := s.answer(ctx, q)
	if err != nil {
		reply = Reply{Error: err.Error()}
	}
	return reply, nil
}

func (s *server) answer(ctx context.Context, q Request) (Reply, error) {
	if err := s.spec.accept(Description{Protocol: q.Protocol, Spec: q.Spec}); err != nil {
		return Reply{}, fmt.Errorf("wire: the request is for another program: %w", err)
	}
	p, ok := s.points[q.Point]
	if !ok {
		return Reply{}, fmt.Errorf("wire: %s has no wire point %q; it has %s", s.spec.Path, q.Point,
			strings.Join(s.spec.Points, ", "))
	}
	payload := p.New()
	if err := json.Unmarshal(q.Payload, payload); err != nil {
		return Reply{}, fmt.Errorf("wire: the payload of %s cannot be read: %w", q.Point, err)
	}
	run, err := s.runs.get(ctx, q.Run)
	if err != nil {
		return Reply{}, fmt.Errorf("wire: no run for %s: %w", q.Point, err)
	}
	fired, err := p.Fire(ctx, run, payload)
	if err != nil {
		return Reply{}, err
	}
	return replyOf(p, fired)
}

// replyOf converts the result of a fire to a reply.
func replyOf(p hookkit.PointInfo, fired hookkit.AnyFired) (Reply, error) {
	r := Reply{Decision: Continue}
	var value any
	for _, o := range p.Outcomes {
		name, rewrites := decisionOf(o)
		switch {
		case fired.Exit != nil && !rewrites && reflect.TypeOf(fired.Exit) == o.Type:
			r.Decision, value = name, fired.Exit
		case fired.Exit == nil && rewrites && o.Name == rewriteOf(p, fired):
			r.Decision, r.Reason, value = name, fired.Reason, fired.Final
			if name == Edit {
				value = editedField(fired.Final, o.Type).Interface()
			}
		}
	}
	if fired.Exit != nil && r.Decision == Continue {
		return Reply{}, fmt.Errorf("wire: the outcome %T of %s cannot be written", fired.Exit, p.Name)
	}
	var err error
	if r.Decision != Continue {
		if r.Value, err = json.Marshal(value); err != nil {
			return Reply{}, fmt.Errorf("wire: the %s of %s cannot be written: %w", r.Decision, p.Name, err)
		}
	}
	if fired.Collected != nil {
		if r.Collected, err = json.Marshal(fired.Collected); err != nil {
			return Reply{}, fmt.Errorf("wire: the contributions to %s cannot be written: %w", p.Name, err)
		}
	}
	return r, nil
}

// rewriteOf returns how the payload was changed: "Replace", "Edit", or "". The last hook that changed it may have
// edited the replacement of an earlier one. An edit alone would then lose the rest of the replacement.
func rewriteOf(p hookkit.PointInfo, fired hookkit.AnyFired) string {
	if fired.Decision != hookkit.DecisionEdit || !slices.ContainsFunc(p.Outcomes, func(o hookkit.Outcome) bool {
		return o.Name == hookkit.DecisionReplace
	}) {
		return fired.Decision
	}
	edit := p.Outcomes[slices.IndexFunc(p.Outcomes, func(o hookkit.Outcome) bool {
		return o.Name == hookkit.DecisionEdit
	})]
	edited := reflect.New(reflect.TypeOf(fired.Payload)).Elem()
	edited.Set(reflect.ValueOf(fired.Payload))
	if edited.Kind() == reflect.Struct {
		editedField(edited.Addr().Interface(), edit.Type).Set(editedField(fired.Final, edit.Type))
		if reflect.DeepEqual(edited.Interface(), fired.Final) {
			return hookkit.DecisionEdit
		}
	}
	return hookkit.DecisionReplace
}

// editedField returns the one field of the payload that has the type t.
func editedField(payload any, t reflect.Type) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(payload))
	for i := range v.NumField() {
		if f := v.Field(i); f.Type() == t && f.CanInterface() {
			return f
		}
	}
	panic(fmt.Sprintf("no field of type %v in %T", t, payload)) // hookgen accepts no such Edit
}
