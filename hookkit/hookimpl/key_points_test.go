package hookimpl_test

import (
	"context"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hookimpl"
)

// What follows is the code of two points with the key Tool, in the form in which it is generated: a flow with Replace
// and FailOpen, and an around point.

type (
	run  = hookkit.Run[string]
	call struct{ Name, Args string }
)

func forTool(names ...string) hookkit.KeyOption { return hookimpl.For("Tool", names) }

type hooks struct {
	Before beforePoint
	Wrap   wrapPoint
	Plain  plainPoint
	pin    hookimpl.Pin[hooks]
}

var _ = hookimpl.HooksType[hooks]()

func (h *hooks) Points() []hookkit.AnyPoint { return hookimpl.AnyPoints(&h.Before, &h.Wrap, &h.Plain) }

func (h *hooks) Layer(name string) *hooks {
	layer := new(hooks)
	hookimpl.Layer(name, layer.Points(), h.Points())
	return layer
}

func (h *hooks) Pinned() *hooks {
	if now := h.pin.Now(); now != nil {
		return now
	}
	return hookimpl.Pinned(&h.pin, h, (*hooks).Points)
}

type hook func(*hooks)

func (h *hooks) Use(k hook, opts ...hookkit.UseOption) *hookkit.Registration {
	staged := new(hooks)
	return hookimpl.Use(h.Points(), staged.Points(), k, func() { k(staged) }, opts)
}

func (h *hooks) ObserveAny(f func(hookkit.AnyFired), opts ...hookkit.ObserverOption) *hookkit.Registration {
	return hookimpl.ObserveAny(h.Points(), f,
		func(_ context.Context, _ hookkit.AnyRun, fired hookkit.AnyFired) { f(fired) }, opts)
}

type registry[D hookimpl.Description, H, F, O, OF, Option any] = hookimpl.PointRegistry[D, H, F, O, OF, Option]

type before[P any] interface {
	Before(context.Context, *run, P) (beforeOutcome, error)
}

type beforeOutcome interface{ legalAtBefore() }

type beforeReplace hookimpl.Replacing[call]

func (beforeReplace) legalAtBefore() {}

func replaceBefore(c call, reason string) beforeOutcome {
	return beforeReplace(hookimpl.Replaced(c, reason))
}

type beforeFunc func(context.Context, *run, call) (beforeOutcome, error)

func (f beforeFunc) Before(ctx context.Context, run *run, c call) (beforeOutcome, error) {
	return f(ctx, run, c)
}

type beforeFired[P any] struct {
	Payload, Final P
	Err            error
	hookkit.Verdict
}

type beforeObserver[P any] interface {
	ObserveBefore(context.Context, *run, beforeFired[P])
}

type beforePoint struct {
	registry[beforeDescription, before[call], func(context.Context, *run, call) (beforeOutcome, error),
		beforeObserver[call], func(context.Context, *run, beforeFired[call]), hookkit.GateOption]
}

type beforeDescription struct{}

func (beforeDescription) Describe() *hookimpl.Point {
	return &hookimpl.Point{
		Name: "Before", Payload: "call", Results: "Replace, FailOpen", Replace: replaceBefore,
		Key:   hookimpl.KeyOf("Tool", func(c call) string { return c.Name }),
		Fire:  (*beforePoint).runHooks,
		Calls: hookimpl.Deciding[beforeFunc](before[call].Before, beforeObserver[call].ObserveBefore),
	}
}

func (p *beforePoint) Fire(ctx context.Context, run *run, payload *call) (err error) {
	if payload == nil || (*hookimpl.State)(&p.registry).Active() {
		err = p.runHooks(ctx, run, payload, nil, nil, nil)
	}
	return
}

func (p *beforePoint) runHooks(
	ctx context.Context, run *run, payload *call, by *hookkit.By, key *string, snap *hookimpl.Snapshot,
) (err error) {
	hookimpl.Require(payload != nil, "Before")
	if key == nil {
		own := payload.Name
		key = &own
	}
	state := (*hookimpl.State)(&p.registry)
	now := hookimpl.CurrentFor(state, snap, *key)
	if now == nil {
		if now = hookimpl.ResolveFor(ctx, run, state, snap, *key); now.Recording() {
			fired, recorded := hookimpl.Record[beforeFired[call]](now)
			fired.Payload = *payload
			defer func() {
				fired.Final = *payload
				fired.Err = recorded.Err(err)
				recorded.Notify(fired)
			}()
			return p.runHooks(ctx, run, payload, by, key, now)
		}
	}
	inv := hookimpl.Start(ctx, now)
	current := *payload
	defer func() {
		if inv.Hook != 0 {
			err = inv.Crashed(recover(), by)
			next := inv.Rest(nil)
			for ; next != nil && err == nil; next = inv.Rest(next) {
				err = p.runHooks(inv.Ctx, run, payload, by, key, next)
			}
		}
	}()
	hooks, _ := now.Hooks.([]before[call])
	for i := uint(0); i < uint(len(hooks)); i = inv.Hook {
		inv.Hook = i + 1
		out, failure := hooks[i].Before(inv.Ctx, run, current)
		if failure == nil {
			switch o := out.(type) {
			case nil:
				continue
			case beforeReplace:
				if o.To.Name != *key {
					failure = hookimpl.OtherKey("Tool", *key, o.To.Name)
					break
				}
				inv.Decided(out, by)
				*payload, current = o.To, o.To
				continue
			}
		}
		if failure = inv.Fail(out, failure, by); failure != nil {
			return failure
		}
	}
	inv.Hook = 0
	return
}

type wrap[P any] interface {
	Wrap(context.Context, *run, P, wrapNext) (hookkit.Answer[string], error)
}

type wrapFunc func(context.Context, *run, call, wrapNext) (hookkit.Answer[string], error)

func (f wrapFunc) Wrap(ctx context.Context, run *run, c call, next wrapNext) (hookkit.Answer[string], error) {
	return f(ctx, run, c, next)
}

type wrapFired[P any] struct {
	Payload P
	Result  string
	Err     error
	hookkit.Verdict
}

type wrapObserver[P any] interface {
	ObserveWrap(context.Context, *run, wrapFired[P])
}

type wrapPoint struct {
	registry[wrapDescription, wrap[call], func(context.Context, *run, call, wrapNext) (hookkit.Answer[string], error),
		wrapObserver[call], func(context.Context, *run, wrapFired[call]), hookkit.HookOption]
}

type wrapNext struct {
	fire  *wrapInvocation
	level int
}

type wrapInvocation struct {
	hookimpl.AroundInvocation
	Run  *run
	Snap *hookimpl.Snapshot
	Do   func(context.Context, call) (string, error)
	Key  string
}

type wrapDescription struct{}

func (wrapDescription) Describe() *hookimpl.Point {
	return &hookimpl.Point{
		Name: "Wrap", Payload: "call", Results: "Around[string]", Fire: (*wrapPoint).runHooks,
		Key: hookimpl.KeyOf("Tool", func(c call) string { return c.Name }),
		Calls: hookimpl.Wrapping[wrapFunc](
			func(h wrap[call], ctx context.Context, run *run, payload call, c hookkit.AnyCall) (hookkit.AnyReply, error) {
				next := func(ctx context.Context, payload call) (hookkit.Answer[string], error) {
					return hookimpl.AnswerOf[string](c.Next(ctx, payload))
				}
				inv := &wrapInvocation{Snap: &hookimpl.Snapshot{Hooks: next}}
				defer inv.End()
				answer, err := h.Wrap(ctx, run, payload, wrapNext{inv, 0})
				return hookimpl.Reply(answer), err
			},
			func(point string, h hookkit.AnyHook) wrapFunc {
				return func(ctx context.Context, run *run, payload call, next wrapNext) (hookkit.Answer[string], error) {
					outer := next.fire
					own := &wrapInvocation{Run: outer.Run, Snap: outer.Snap, Do: outer.Do, Key: outer.Key}
					own.Within(&outer.AroundInvocation)
					defer own.End()
					inner := func(ctx context.Context, payload any) (hookkit.AnyReply, error) {
						answer, err := wrapNext{own, next.level}.Call(ctx, hookimpl.As[call](payload))
						return hookimpl.Reply(answer), err
					}
					reply, err := h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload, Next: inner})
					return hookimpl.AnswerOf[string](reply, err)
				}
			},
			wrapObserver[call].ObserveWrap,
		),
	}
}

func (n wrapNext) Call(ctx context.Context, payload call) (answer hookkit.Answer[string], err error) {
	inv := n.fire
	if inv == nil || inv.Over() {
		return answer, hookkit.ErrNextOver
	}
	hooks, inFire := inv.Snap.Hooks.([]wrap[call])
	if !inFire {
		return inv.Snap.Hooks.(func(context.Context, call) (hookkit.Answer[string], error))(ctx, payload)
	}
	if n.level > 0 && payload.Name != inv.Key {
		return answer, inv.Failed(ctx, inv.Snap, n.level-1, hookimpl.OtherKey("Tool", inv.Key, payload.Name))
	}
	returned := false
	defer func() {
		if !returned {
			answer, err = hookkit.Answer[string]{}, inv.Crashed(ctx, inv.Snap, n.level, recover())
		}
	}()
	if n.level == len(hooks) {
		result, failure := inv.Do(hookimpl.Background(ctx), payload)
		hookimpl.Acted(&answer, &inv.AroundInvocation, result)
		err = failure
	} else {
		answer, err = hooks[n.level].Wrap(hookimpl.Background(ctx), inv.Run, payload, wrapNext{inv, n.level + 1})
	}
	if err != nil || hookimpl.Missing(&answer) {
		answer, err = hookkit.Answer[string]{}, inv.Failed(ctx, inv.Snap, n.level, err)
	}
	returned = true
	hookimpl.Pass(&answer, &inv.AroundInvocation, inv.Snap, n.level)
	return
}

func (p *wrapPoint) runHooks(
	ctx context.Context, run *run, payload call, act func(context.Context, call) (string, error), by *hookkit.By,
	key *string, snap *hookimpl.Snapshot,
) (result string, err error) {
	if key == nil {
		own := payload.Name
		key = &own
	}
	state := (*hookimpl.State)(&p.registry)
	now := hookimpl.CurrentFor(state, snap, *key)
	if now == nil {
		now = hookimpl.ResolveFor(ctx, run, state, snap, *key)
	}
	inv := &wrapInvocation{Run: run, Snap: now, Do: act, Key: *key}
	defer inv.Finish(ctx, now)
	if now.Recording() {
		fired, recorded := hookimpl.Record[wrapFired[call]](now)
		fired.Payload = payload
		defer func() {
			fired.Result, fired.Err = result, recorded.Err(err)
			recorded.Notify(fired)
		}()
	}
	answer, err := wrapNext{inv, 0}.Call(ctx, payload)
	hookimpl.Concluded(ctx, &inv.AroundInvocation, now, &answer, err, by)
	return answer.Value(), err
}

type plain[P any] interface {
	Plain(context.Context, *run, P) error
}

type plainFunc func(context.Context, *run, call) error

func (f plainFunc) Plain(ctx context.Context, run *run, c call) error { return f(ctx, run, c) }

type plainFired[P any] struct {
	Payload P
	hookkit.Verdict
}

type plainObserver[P any] interface {
	ObservePlain(context.Context, *run, plainFired[P])
}

// A plainPoint has no key.
type plainPoint struct {
	registry[plainDescription, plain[call], func(context.Context, *run, call) error, plainObserver[call],
		func(context.Context, *run, plainFired[call]), hookkit.HookOption]
}

type plainDescription struct{}

func (plainDescription) Describe() *hookimpl.Point {
	return &hookimpl.Point{Name: "Plain", Payload: "call", Fire: (*plainPoint).runHooks,
		Calls: hookimpl.Checking[plainFunc](plain[call].Plain, plainObserver[call].ObservePlain)}
}

func (p *plainPoint) runHooks(context.Context, *run, call, *hookimpl.Snapshot) {}
