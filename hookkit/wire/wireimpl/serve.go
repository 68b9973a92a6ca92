package wireimpl

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/runstore"
	"github.com/hookgen/hookgen/hookkit/internal/skew"
	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// Serve returns the wire.Handler of a generated Serve function; R is a pointer to the generated Run. The points are
// those of generated Hooks. The function run returns a run for the hooks; it is called once for each run of the
// program. If it is nil, the hooks get a run with the identity of that one and a zero environment. Serve panics if JSON
// cannot hold a payload or a decision of a wire point.
func Serve[R hookkit.AnyRun](
	spec Spec, points []hookkit.AnyPoint, run func(context.Context, wire.RunInfo) (R, error),
) wire.Handler {
	s := &server{spec: spec, points: map[string]servedPoint{}}
	for _, p := range points {
		if slices.Contains(spec.Points, p.Name) {
			refuseUnencodable(p)
			shape := skew.Of(p)
			s.points[p.Name] = servedPoint{p, shape, skew.Digest(shape)}
		}
	}
	s.runs = runstore.New(func(ctx context.Context, info wire.RunInfo) (hookkit.AnyRun, error) {
		if run == nil {
			return s.points[spec.Points[0]].ResumeRun(info.ID, info.Parent, info.Root), nil
		}
		return run(ctx, info)
	}, func(ctx context.Context, id string) {
		slog.WarnContext(ctx, "hookkit: a run was forgotten and continues; its hooks begin with new state",
			"spec", spec.Path, "run", id, "client", wire.ClientOf(ctx))
	})
	return s
}

// A server answers requests by firing points.
type server struct {
	spec   Spec
	points map[string]servedPoint
	runs   *runstore.Store
}

// A servedPoint is a point with what this program knows of it.
type servedPoint struct {
	hookkit.AnyPoint
	shape  *wire.Shape
	digest string
}

// Describe lists the points that have hooks or observers now.
func (s *server) Describe(context.Context) (wire.Description, error) {
	d := wire.Description{
		Protocol: wire.Protocol, Spec: s.spec.Path, Points: []string{}, Shapes: map[string]*wire.Shape{},
	}
	for _, name := range s.spec.Points {
		if p, ok := s.points[name]; ok && len(p.Hooks())+len(p.Observers()) > 0 {
			d.Points = append(d.Points, name)
			d.Shapes[name] = p.shape
			if err := addKeys(&d, p.AnyPoint); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// addKeys describes the keys of a point, unless a hook or an observer is for all of them.
func addKeys(d *wire.Description, p hookkit.AnyPoint) error {
	for _, i := range slices.Concat(p.Hooks(), p.Observers()) {
		if i.Keys == nil {
			return nil
		}
	}
	keys := wire.Keys{Key: p.Key}
	for _, key := range p.Keys() {
		value, err := json.Marshal(key)
		if err != nil {
			return fmt.Errorf("wire: the key %s of %s cannot be written: %w", p.Key, p.Name, err)
		}
		if back := p.NewKey(); json.Unmarshal(value, back) != nil || reflect.ValueOf(back).Elem().Interface() != key {
			return fmt.Errorf("wire: a hook of %s is for the %s %.100q, which JSON changes, so that it would "+
				"never run: use a text that is UTF-8, and exported fields", p.Name, p.Key, fmt.Sprint(key))
		}
		keys.Values = append(keys.Values, value)
	}
	if d.Keys == nil {
		d.Keys = map[string]wire.Keys{}
	}
	d.Keys[p.Name] = keys
	return nil
}

// Call fires the point that the request names.
func (s *server) Call(ctx context.Context, q wire.Request) (reply wire.Reply, _ error) {
	defer func() {
		if v := recover(); v != nil {
			reply = wire.Reply{Error: fmt.Sprintf("wire: a panic at %s: %v", q.Point, v)}
		}
	}()
	failed := func(format string, args ...any) (wire.Reply, error) {
		return wire.Reply{Error: fmt.Sprintf(format, args...)}, nil
	}
	if err := s.spec.accept(wire.Description{Protocol: q.Protocol, Spec: q.Spec}); err != nil {
		return failed("wire: the request is for another program: %v", err)
	}
	p, ok := s.points[q.Point]
	if !ok {
		return failed("wire: %s has no wire point %q; it has %s", s.spec.Path, q.Point, strings.Join(s.spec.Points, ", "))
	}
	if q.Trial {
		ctx = wire.WithTrial(ctx)
	}
	if q.Wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(min(q.Wait, maxWait))*time.Millisecond)
		defer cancel()
	}
	payload := p.New()
	if err := strictjson.Request.Unmarshal(ctx, q.Payload, payload, "$.payload"); err != nil {
		remedy := ""
		if q.Digest != "" && q.Digest != p.digest {
			remedy = "; the program has another version of the spec: build both from one version"
		}
		return failed("wire: the payload of %s cannot be read: %v%s", q.Point, err, remedy)
	}
	run, err := s.runs.Get(ctx, q.Run)
	if err != nil {
		return failed("wire: no run for %s: %v", q.Point, err)
	}
	fired, err := p.Fire(ctx, run, payload)
	if err == nil {
		reply, err = wire.NewReply(p.AnyPoint, fired)
	}
	if err != nil {
		return failed("%v", err)
	}
	if q.Digest != "" {
		reply.Digest = p.digest
		if q.Digest != p.digest && q.Seen != p.digest {
			reply.Shape = p.shape
		}
	}
	return reply, nil
}

// maxWait is the longest time in milliseconds that a request can give the hooks; a day.
const maxWait = 24 * 60 * 60 * 1000
