package wireimpl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/skew"
	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A remotePoint is one point of a program that a service answers.
type remotePoint struct {
	*connection
	point  hookkit.AnyPoint
	shape  *wire.Shape // of the point in this program
	types  *skew.Types // of the shape
	digest string

	mu    sync.Mutex
	seen  string           // the digest of the last shape that came with a reply
	peers map[string]*peer // by digest; several versions of a service can share one address
}

// A peer is a version of the service.
type peer struct {
	types *skew.Types // nil if the service does not say what it knows
	same  bool        // it has the shape of this program
	err   error       // it understands the point differently
}

func newRemotePoint(c *connection, p hookkit.AnyPoint) *remotePoint {
	r := &remotePoint{connection: c, point: p, shape: skew.Of(p)}
	r.digest, r.types = skew.Digest(r.shape), skew.TypesOf(r.shape)
	// A reply without a digest is of a script, even if a service with generated code described itself before.
	r.peers = map[string]*peer{"": {}, r.digest: {types: r.types, same: true}}
	if described := c.shapes[p.Name]; described != nil && skew.Digest(described) != r.digest {
		r.seen = skew.Digest(described)
		r.peers[r.seen] = &peer{types: skew.TypesOf(described)}
	}
	return r
}

// ask is the hook: it sends a payload to the service and returns the decision in its reply.
func (r *remotePoint) ask(
	ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall,
) (out hookkit.AnyReply, err error) {
	payload, err := json.Marshal(call.Payload)
	if err != nil {
		return hookkit.AnyReply{}, fmt.Errorf("wire: the payload of %s cannot be written: %w", r.point.Name, err)
	}
	q := wire.Request{Protocol: wire.Protocol, Spec: r.spec.Path, Point: r.point.Name, Run: wire.InfoOf(run),
		Trial: wire.IsTrial(ctx), Digest: r.digest, Seen: r.lastSeen()}
	q.Payload, q.Damaged = skew.Clean(payload)
	begun := time.Now()
	defer func() {
		elapsed := time.Since(begun)
		if own := new(wire.CallError); err != nil && !errors.As(err, &own) {
			err = &wire.CallError{Service: nameOf(r.caller), Point: r.point.Name, Elapsed: elapsed, Err: err}
		}
		for _, observe := range r.set.Observe {
			observe(wire.Call{Service: nameOf(r.caller), Point: r.point.Name, Trial: q.Trial, Bytes: len(q.Payload),
				Elapsed: elapsed, Err: err})
		}
	}()
	reply, err := r.send(ctx, q)
	if err != nil {
		return out, err
	}
	if reply.Error != "" {
		return out, fmt.Errorf("it replied with the error %.500q", reply.Error)
	}
	if out, err = r.read(q, call.Payload, reply); err != nil {
		return hookkit.AnyReply{}, fmt.Errorf("the reply is wrong: %w", err)
	}
	return out, nil
}

// send calls the service unless it failed several times in a row.
func (r *remotePoint) send(ctx context.Context, q wire.Request) (reply wire.Reply, err error) {
	if ctx.Err() != nil {
		return reply, context.Cause(ctx) // which says nothing about the service
	}
	probe, err := r.breaker.begin()
	if err != nil {
		return reply, err
	}
	begun := time.Now()
	err = errors.New("the caller panicked")
	defer func() { r.breaker.end(ctx, probe, time.Since(begun), err) }()
	reply, err = r.caller.Call(ctx, q)
	return reply, err
}

// read converts a reply to the request q about a payload.
func (r *remotePoint) read(q wire.Request, payload any, reply wire.Reply) (hookkit.AnyReply, error) {
	from, err := r.peerOf(reply)
	if err != nil {
		return hookkit.AnyReply{}, err
	}
	if !r.rewrites(reply.Decision) || reply.Value == nil && reply.Decision != wire.Patch {
		return reply.Read(r.point) // an error, unless it continues or is an exit
	}
	sent := q.Payload
	if reply.Decision == wire.Edit {
		for _, o := range r.point.Outcomes {
			if o.Name == hookkit.DecisionEdit {
				payload = strictjson.EditedField(payload, o.Type).Interface()
			}
		}
		if sent, err = json.Marshal(payload); err != nil {
			return hookkit.AnyReply{}, err
		}
	}
	if !from.same || reply.Decision == wire.Patch {
		if reply, err = skew.Complete(reply, r.types, from.types, sent); err != nil {
			return hookkit.AnyReply{}, err
		}
	}
	if len(q.Damaged) == 0 {
		return reply.Read(r.point)
	}
	return reply.Read(r.restoring(payload))
}

// rewrites reports whether a decision replaces or edits the payload, and the point allows it.
func (r *remotePoint) rewrites(decision string) bool {
	name := map[string]string{wire.Replace: hookkit.DecisionReplace, wire.Patch: hookkit.DecisionReplace,
		wire.Edit: hookkit.DecisionEdit}[decision]
	return slices.ContainsFunc(r.point.Outcomes, func(o hookkit.Outcome) bool { return o.Name == name })
}

// restoring returns the point with outcomes whose texts are the original ones, where the service left them unchanged.
func (r *remotePoint) restoring(original any) hookkit.AnyPoint {
	p := r.point
	p.Outcomes = slices.Clone(p.Outcomes)
	for i, o := range p.Outcomes {
		p.Outcomes[i].New = func(value any, reason string) (any, error) {
			if reflect.TypeOf(value) == reflect.TypeOf(original) {
				var err error
				if value, err = skew.Restore(original, value); err != nil {
					return nil, err
				}
			}
			return o.New(value, reason)
		}
	}
	return p
}

// lastSeen returns the digest of the last shape that the service sent.
func (r *remotePoint) lastSeen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// peerOf returns the version of the service that replied. A service can be exchanged while the program runs, so the one
// that described itself may be another one.
func (r *remotePoint) peerOf(reply wire.Reply) (*peer, error) {
	const most = 16 // versions
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.peers[reply.Digest]
	if known == nil {
		if reply.Shape == nil {
			return nil, fmt.Errorf("$.shape: missing; a reply with the digest %.40q needs one", reply.Digest)
		}
		if len(r.peers) >= most {
			r.peers = map[string]*peer{"": {}, r.digest: r.peers[r.digest]}
		}
		known = &peer{types: skew.TypesOf(reply.Shape), err: r.compare(r.point.Name, r.shape, reply.Shape)}
		r.peers[reply.Digest], r.seen = known, reply.Digest
	}
	return known, known.err
}
