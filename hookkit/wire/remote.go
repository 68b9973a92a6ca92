package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A RemoteOption changes how hooks of a service are connected. Generated functions named Remote take them.
type RemoteOption interface{ apply(*connection) }

type remoteOption func(*connection)

func (o remoteOption) apply(c *connection) { o(c) }

// Points names the points that the service answers, so that the service is not asked. With it, a program can start
// before its hook service. A program that was not built for a point of the service needs it, too.
func Points(names ...string) RemoteOption {
	return remoteOption(func(c *connection) { c.served = append(c.served, names...) })
}

// Pointer is the type constraint for a pointer to generated Hooks.
type Pointer interface{ Points() []hookkit.PointInfo }

// RemoteHook is the hook that a generated function Remote returns; H is a pointer to the generated Hooks.
type RemoteHook[H Pointer] struct{ connection }

// A connection is a service and the points that it answers.
type connection struct {
	spec   Spec
	caller Caller
	served []string
}

// A Spec describes a spec to this package. Generated code passes it.
type Spec struct {
	Path   string   // the import path of the spec's package
	Points []string // the points that have messages
	// Labels returns the labels of a run, see [Labeler].
	Labels func(hookkit.AnyRun) map[string]string
	// Resume returns a run with a zero environment and the identity of one in another process.
	Resume func(RunInfo) hookkit.AnyRun
}

// Connect returns the hooks of a service. Without the option [Points] it asks the service which points it serves. Only
// generated code calls Connect.
func Connect[H Pointer](ctx context.Context, spec Spec, c Caller, opts []RemoteOption) (*RemoteHook[H], error) {
	if c == nil {
		return nil, errors.New("wire: the Caller is nil")
	}
	r := connection{spec: spec, caller: c}
	for _, o := range opts {
		o.apply(&r)
	}
	for _, p := range r.served {
		if err := spec.has(p, reflect.New(reflect.TypeFor[H]().Elem()).Interface().(H).Points()); err != nil {
			return nil, err
		}
	}
	if len(r.served) == 0 {
		d, err := c.Describe(ctx)
		if err != nil {
			return nil, fmt.Errorf("wire: %s does not say which points it serves: %w; "+
				"pass wire.Points to connect without asking", nameOf(c), err)
		}
		if err := spec.accept(d); err != nil {
			return nil, fmt.Errorf("wire: %s: %w", nameOf(c), err)
		}
		r.served = d.Points
	}
	if len(r.served) == 0 {
		return nil, fmt.Errorf("wire: %s has no hook at any point; register its hooks before programs connect, "+
			"or pass wire.Points", nameOf(c))
	}
	for _, p := range r.served {
		if !slices.Contains(spec.Points, p) {
			return nil, fmt.Errorf("wire: %s serves the point %.100q, which is not a wire point of %s; generate this program "+
				"from the spec of the service, or name the points to use with wire.Points", nameOf(c), p, spec.Path)
		}
	}
	return &RemoteHook[H]{r}, nil
}

// has returns an error if a point that the option Points names is not a wire point. all are the points of the Hooks.
func (s Spec) has(named string, all []hookkit.PointInfo) error {
	switch {
	case slices.Contains(s.Points, named):
		return nil
	case slices.ContainsFunc(all, func(p hookkit.PointInfo) bool { return p.Name == named }):
		return fmt.Errorf("wire: wire.Points names %q, which has no messages; points that wrap an act, and points marked "+
			"//hookgen:local, stay in the process", named)
	}
	if meant := spelling.Suggest(named, s.Points); meant != "" {
		return fmt.Errorf("wire: wire.Points names %q; did you mean %q?", named, meant)
	}
	return fmt.Errorf("wire: wire.Points names %q, which is not a point of %s; it has %s", named, s.Path,
		strings.Join(s.Points, ", "))
}

// accept compares a description with the spec.
func (s Spec) accept(d Description) error {
	if d.Protocol != Protocol {
		return fmt.Errorf("it speaks version %d of the protocol, and this program version %d; use the same version of "+
			"hookgen at both ends", d.Protocol, Protocol)
	}
	if d.Spec != s.Path {
		return fmt.Errorf("its hooks are for the spec %.200q, and this program has %q", d.Spec, s.Path)
	}
	return nil
}

// nameOf names the service that a caller reaches.
func nameOf(c Caller) string {
	if s, ok := c.(fmt.Stringer); ok {
		return s.String()
	}
	return strings.TrimLeft(fmt.Sprintf("%T", c), "*")
}

// Bind adds one hook to each point that the service answers. It panics if JSON cannot hold a payload or a decision of
// such a point.
func (r *RemoteHook[H]) Bind(h H) {
	name := hookkit.Named("remote " + nameOf(r.caller))
	for _, p := range h.Points() {
		if slices.Contains(r.served, p.Name) {
			refuseUnencodable(p)
			p.AddAny(r.hook(p), name)
		}
	}
}

// A CallError is why a hook of another process failed: the process was not reached, it replied with an error, or the
// reply is wrong. The text can contain the address of the process. A program that shows errors to people or models who
// must not read it finds a CallError with errors.As. A [Caller] may return a CallError of its own.
type CallError struct {
	Service string        // the name of the process: the text of the Caller if it has a String method, else its type
	Point   string        // the fire point
	Elapsed time.Duration // of the call; 0 if a Caller that returns CallErrors did not measure it
	Err     error         // never nil
}

// Error contains all fields.
func (e *CallError) Error() string {
	after := ""
	if e.Elapsed > 0 {
		unit := time.Millisecond
		if e.Elapsed < unit {
			unit = time.Microsecond
		}
		after = fmt.Sprintf(" after %v", e.Elapsed.Round(unit))
	}
	return fmt.Sprintf("%s failed at %s%s: %v", e.Service, e.Point, after, e.Err)
}

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

// hook returns a hook that asks the service.
func (r *connection) hook(p hookkit.PointInfo) hookkit.AnyHook {
	return func(ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
		payload, err := json.Marshal(call.Payload)
		if err != nil {
			return hookkit.AnyReply{}, fmt.Errorf("wire: the payload of %s cannot be written: %w", p.Name, err)
		}
		begun := time.Now()
		failed := func(err error) (hookkit.AnyReply, error) {
			if own := new(CallError); errors.As(err, &own) {
				return hookkit.AnyReply{}, err
			}
			return hookkit.AnyReply{}, &CallError{nameOf(r.caller), p.Name, time.Since(begun), err}
		}
		reply, err := r.caller.Call(ctx, Request{
			Protocol: Protocol, Spec: r.spec.Path, Point: p.Name, Run: r.spec.info(run), Payload: payload,
		})
		if err != nil {
			return failed(err)
		}
		if reply.Error != "" {
			return failed(fmt.Errorf("it replied with the error %.500q", reply.Error))
		}
		out, err := reply.Read(p)
		if err != nil {
			return failed(fmt.Errorf("the reply is wrong: %w", err))
		}
		return out, nil
	}
}

// info describes a run to the other end.
func (s Spec) info(run hookkit.AnyRun) RunInfo {
	if run == nil || run.ID() == "" {
		return RunInfo{}
	}
	return RunInfo{run.ID(), run.Parent(), run.Root(), s.Labels(run)}
}

// Labels returns the labels of an environment: those that it has as a [Labeler], or nil.
func Labels(env any) map[string]string {
	l, ok := env.(Labeler)
	if v := reflect.ValueOf(env); !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return l.WireLabels()
}

// Read converts a reply without an Error to the result of a hook at p. It returns an error if the reply is not legal at
// the point. Adapters that check a reply before they pass it on use it.
func (r Reply) Read(p hookkit.PointInfo) (hookkit.AnyReply, error) {
	var out hookkit.AnyReply
	if r.Decision == Continue {
		if r.Value != nil || r.Reason != "" {
			return out, errors.New("$.decision: continue has neither a value nor a reason")
		}
	} else {
		o, err := r.outcome(p)
		if err != nil {
			return out, err
		}
		out.Outcome = o
	}
	if r.Collected == nil {
		return out, nil
	}
	if p.Contribution == nil {
		return out, fmt.Errorf("$.collected: hooks at %s contribute nothing", p.Name)
	}
	values := reflect.New(reflect.SliceOf(p.Contribution))
	if err := decode(r.Collected, values.Interface(), "$.collected"); err != nil {
		return out, err
	}
	if values.Elem().Len() > 0 {
		out.Collected = values.Elem().Interface()
	}
	return out, nil
}

// outcome returns the outcome for a decision that is not to continue.
func (r Reply) outcome(p hookkit.PointInfo) (any, error) {
	legal := []string{Continue}
	for _, o := range p.Outcomes {
		name, rewrites := decisionOf(o)
		legal = append(legal, name)
		if name != r.Decision {
			continue
		}
		if !rewrites && r.Reason != "" {
			return nil, fmt.Errorf("$.reason: belongs to replace and edit; an exit has its reason in $.value")
		}
		if rewrites && r.Value == nil {
			return nil, fmt.Errorf("$.value: missing; %s needs one", name)
		}
		value := reflect.New(o.Type)
		if r.Value != nil {
			if err := decode(r.Value, value.Interface(), "$.value"); err != nil {
				return nil, err
			}
		}
		return o.New(value.Elem().Interface(), r.Reason)
	}
	return nil, fmt.Errorf("$.decision: %.100q is not legal; use %s", r.Decision, strings.Join(legal, ", "))
}

// decisionOf returns the name of an outcome in a Reply, and whether it replaces or edits the payload.
func decisionOf(o hookkit.Outcome) (name string, rewrites bool) {
	switch o.Name {
	case hookkit.DecisionReplace:
		return Replace, true
	case hookkit.DecisionEdit:
		return Edit, true
	}
	return o.Name, false
}
