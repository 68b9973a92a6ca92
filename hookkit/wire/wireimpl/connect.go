package wireimpl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
	"github.com/hookgen/hookgen/hookkit/internal/skew"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A Pointer is a pointer to generated Hooks.
type Pointer interface{ Points() []hookkit.AnyPoint }

// RemoteHook is the hook that a generated function Remote returns; H is a pointer to the generated Hooks.
type RemoteHook[H Pointer] struct{ connection }

// A connection is a service and the points that it answers.
type connection struct {
	spec    Spec
	caller  wire.Caller
	served  []string
	set     opaque.Remote
	breaker breaker
	shapes  map[string]*wire.Shape       // of the points, as the service described them; nil if it did not
	keys    map[string]hookkit.KeyOption // of the points, if the service wants calls for some keys only
}

// Connect returns the hooks of a service. Without the option [wire.Points] it asks the service which points it serves.
func Connect[H Pointer](
	ctx context.Context, spec Spec, c wire.Caller, opts []wire.RemoteOption,
) (*RemoteHook[H], error) {
	if c == nil {
		return nil, errors.New("wire: the wire.Caller is nil")
	}
	r := &RemoteHook[H]{connection{spec: spec, caller: c}}
	for _, o := range opts {
		o(&r.set)
	}
	r.served = r.set.Points
	r.breaker.limit = cmp.Or(r.set.Failures, wire.DefaultFailures)
	r.breaker.pause = cmp.Or(r.set.Pause, wire.DefaultPause)
	points := reflect.New(reflect.TypeFor[H]().Elem()).Interface().(H).Points()
	for option, names := range map[string][]string{"Points": r.served, "Accept": r.set.Accepted} {
		for _, p := range names {
			if err := spec.has(option, p, points); err != nil {
				return nil, err
			}
		}
	}
	if len(r.served) == 0 {
		if err := r.describe(ctx, points); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// describe asks the service which points it serves, and compares them with those of the program.
func (r *connection) describe(ctx context.Context, points []hookkit.AnyPoint) error {
	name := nameOf(r.caller)
	d, err := r.caller.Describe(ctx)
	if err != nil {
		return fmt.Errorf("wire: %s does not say which points it serves: %w; "+
			"pass wire.Points to connect without asking", name, err)
	}
	if err := r.spec.accept(d); err != nil {
		return fmt.Errorf("wire: %s: %w", name, err)
	}
	if len(d.Points) == 0 {
		return fmt.Errorf("wire: %s has no hook at any point; register its hooks before programs connect, "+
			"or pass wire.Points", name)
	}
	for _, p := range d.Points {
		if !slices.Contains(r.spec.Points, p) {
			return fmt.Errorf("wire: %s serves the point %.100q, which is not a wire point of %s; generate this program "+
				"from the spec of the service, or name the points to use with wire.Points", name, p, r.spec.Path)
		}
	}
	r.served, r.shapes = d.Points, d.Shapes
	r.keys = map[string]hookkit.KeyOption{}
	var all []error
	for _, p := range points {
		if keys, some := d.Keys[p.Name]; some {
			all = append(all, r.readKeys(p, keys))
		}
		if there := d.Shapes[p.Name]; there != nil && slices.Contains(d.Points, p.Name) {
			all = append(all, r.compare(p.Name, skew.Of(p), there))
		}
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("wire: %s was built with another version of the spec: %w", name, err)
	}
	return nil
}

// readKeys keeps the keys of a point for which the service wants calls.
func (r *connection) readKeys(p hookkit.AnyPoint, keys wire.Keys) error {
	if keys.Key != p.Key || p.Key == "" || len(keys.Values) == 0 {
		return fmt.Errorf("%s: the service wants calls for %d values of the key %.100q, and the key of the point is %q; "+
			"build both from one version of the spec, or pass wire.Points", p.Name, len(keys.Values), keys.Key, p.Key)
	}
	given := opaque.Keys{Name: p.Key}
	for _, text := range keys.Values {
		key := p.NewKey()
		if err := json.Unmarshal(text, key); err != nil {
			return fmt.Errorf("%s: the service wants calls for the key %.100s, which cannot be read: %w", p.Name, text, err)
		}
		given.Values = append(given.Values, reflect.ValueOf(key).Elem().Interface())
	}
	r.keys[p.Name] = opaque.KeyOption(given.And(given)).(hookkit.KeyOption)
	return nil
}

// compare returns an error if the two ends understand a point differently, unless an option accepts it.
func (r *connection) compare(point string, here, there *wire.Shape) error {
	found := skew.Differences(here, there)
	if len(found) == 0 || slices.Contains(r.set.Accepted, point) {
		return nil
	}
	return fmt.Errorf("%s: %s; build both from one version of the spec, or pass wire.Accept(%q)", point,
		strings.Join(found, "; "), point)
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
			opts := []hookkit.GateOption{name}
			if keys := r.keys[p.Name]; keys != nil {
				opts = append(opts, keys)
			}
			p.AddAny(newRemotePoint(&r.connection, p).ask, opts...)
		}
	}
}

// refuseUnencodable panics if the messages of a point cannot hold its values. hookgen refuses such types where it sees
// them; it does not see types of other packages.
func refuseUnencodable(p hookkit.AnyPoint) {
	if why := skew.Problem(p); why != "" {
		panic(fmt.Sprintf("wire: %s cannot be a wire point: %s, which JSON cannot hold; change the type, leave the field "+
			"out with the tag json:\"-\", or mark the point //hookgen:local", p.Name, why))
	}
}
