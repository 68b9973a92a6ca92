package wireimpl

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
	"github.com/hookgen/hookgen/hookkit/internal/encodable"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A Pointer is a pointer to generated Hooks.
type Pointer interface{ Points() []hookkit.AnyPoint }

// RemoteHook is the hook that a generated function Remote returns; H is a pointer to the generated Hooks.
type RemoteHook[H Pointer] struct{ connection }

// A connection is a service and the points that it answers.
type connection struct {
	spec   Spec
	caller wire.Caller
	served []string
}

// Connect returns the hooks of a service. Without the option [wire.Points] it asks the service which points it serves.
func Connect[H Pointer](
	ctx context.Context, spec Spec, c wire.Caller, opts []wire.RemoteOption,
) (*RemoteHook[H], error) {
	if c == nil {
		return nil, errors.New("wire: the wire.Caller is nil")
	}
	var set opaque.Remote
	for _, o := range opts {
		o(&set)
	}
	r := connection{spec: spec, caller: c, served: set.Points}
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

// nameOf names the service that a caller reaches.
func nameOf(c wire.Caller) string {
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

// hook returns a hook that asks the service.
func (r *connection) hook(p hookkit.AnyPoint) hookkit.AnyHook {
	return func(ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
		payload, err := json.Marshal(call.Payload)
		if err != nil {
			return hookkit.AnyReply{}, fmt.Errorf("wire: the payload of %s cannot be written: %w", p.Name, err)
		}
		begun := time.Now()
		failed := func(err error) (hookkit.AnyReply, error) {
			if own := new(wire.CallError); errors.As(err, &own) {
				return hookkit.AnyReply{}, err
			}
			return hookkit.AnyReply{}, &wire.CallError{
				Service: nameOf(r.caller), Point: p.Name, Elapsed: time.Since(begun), Err: err,
			}
		}
		reply, err := r.caller.Call(ctx, wire.Request{
			Protocol: wire.Protocol, Spec: r.spec.Path, Point: p.Name, Run: wire.InfoOf(run), Payload: payload,
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

// refuseUnencodable panics if the messages of a point cannot hold its values. hookgen refuses such types where it sees
// them; it does not see types of other packages.
func refuseUnencodable(p hookkit.AnyPoint) {
	if why := encodable.Problem(p); why != "" {
		panic(fmt.Sprintf("wire: %s cannot be a wire point: %s, which JSON cannot hold; change the type, leave the field "+
			"out with the tag json:\"-\", or mark the point //hookgen:local", p.Name, why))
	}
}
