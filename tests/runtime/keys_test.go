package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
	"github.com/hookgen/hookgen/tests/remote"
)

// Rule 17: a fire with a key runs exactly the hooks without keys and those registered for the key, in the common order.
func TestFiresRunTheHooksOfTheirKey(t *testing.T) {
	keyed := points.Where(func(p *points.Point) bool { return p.Key != "" })
	holdsAt(t, keyed, Shape{Actions: []Action{
		Continues, Continues, Replaces, Redirects, Edits, Fails, Panics,
	}})
}

// parcel returns a payload with the key.
func parcel(kind string) fixture.Parcel { return fixture.Parcel{Tag: fixture.Tag{Kind: kind}} }

// noting returns a hook that adds its name to ran.
func noting(ran *[]string, name string) fixture.KeyedVerifyFunc {
	return func(context.Context, *fixture.Run, fixture.Parcel) error {
		*ran = append(*ran, name)
		return nil
	}
}

func TestHooksOverOthersRunForTheirKeys(t *testing.T) {
	var outer, part fixture.Hooks
	var ran []string
	outer.KeyedVerify.Add(noting(&ran, "outer bash"), fixture.ForKind("bash"))
	outer.KeyedVerify.Add(noting(&ran, "outer"))
	part.KeyedVerify.Add(noting(&ran, "part read"), fixture.ForKind("read"))
	part.KeyedVerify.Add(noting(&ran, "part bash"), fixture.ForKind("read", "bash"))
	both := outer.Over(&part, "part")
	for kind, want := range map[string]string{
		"bash": "outer bash, outer, part bash", "read": "outer, part read, part bash", "Bash": "outer", "": "outer",
	} {
		ran = nil
		if err := both.KeyedVerify.Fire(t.Context(), newRun(), parcel(kind)); err != nil || strings.Join(ran, ", ") != want {
			t.Errorf("a fire for %q ran %q, %v", kind, ran, err)
		}
	}
}

func TestKeysAreListed(t *testing.T) {
	var h fixture.Hooks
	var ran []string
	at := points.Named("KeyedVerify").At(&h)
	reg := h.KeyedVerify.Add(noting(&ran, "a"), fixture.ForKind("bash", "sh"), hookkit.Named("a"))
	h.KeyedVerify.ObserveFunc(func(context.Context, *fixture.Run, fixture.KeyedVerifyFired[fixture.Parcel]) {},
		fixture.ForKind("read", "sh"))
	h.KeyedVerify.Add(noting(&ran, "b"))
	if info := h.KeyedVerify.List()[0]; !reflect.DeepEqual(info.Keys, []any{"bash", "sh"}) ||
		!strings.Contains(info.Why, `for Kind "bash" "sh", from `+reg.Site()) {
		t.Errorf("listed is %+v", info)
	}
	if got := fmt.Sprint(at.Keys()); at.Key != "Kind" || got != "[bash sh read]" {
		t.Errorf("the keys in use are %s of %q", got, at.Key)
	}
	var text strings.Builder
	if err := h.Explain(&text); err != nil || !strings.Contains(text.String(), `for Kind "bash" "sh"`) {
		t.Errorf("explained as %s, %v", text.String(), err)
	}
	plain := points.Named("Verify").At(&h)
	if plain.Key != "" || plain.Keys() != nil || plain.NewKey() != nil || (hookkit.AnyPoint{}).Keys() != nil {
		t.Error("a point without key has one")
	}
	h.KeyedVerify.Add(noting(&ran, "c"), fixture.ForKind(strings.Repeat("x", 1<<20), "1", "2", "3", "4", "5", "6"))
	if why := h.KeyedVerify.List()[2].Why; len(why) > 300 || !strings.Contains(why, `"3" "4" 2 more`) {
		t.Errorf("a key of 1 MB is listed in %d bytes: %.400s", len(why), why)
	}
}

func TestOptionsOfUseAndAddIntersect(t *testing.T) {
	var h fixture.Hooks
	var ran []string
	h.Use(points.Bundle(func(h *fixture.Hooks) {
		h.KeyedVerify.Add(noting(&ran, "both"), fixture.ForKind("bash", "read"))
		h.KeyedWrap.AddFunc(func(
			ctx context.Context, _ *fixture.Run, p fixture.Parcel, next fixture.KeyedWrapNext,
		) (hookkit.Answer[fixture.Result], error) {
			return next.Call(ctx, p)
		})
	}), fixture.ForKind("bash", "write"))
	h.KeyedVerify.Add(noting(&ran, "twice"), fixture.ForKind("a", "b"), fixture.ForKind("b", "c"))
	got := fmt.Sprint(h.KeyedVerify.List()[0].Keys, h.KeyedWrap.List()[0].Keys, h.KeyedVerify.List()[1].Keys)
	if got != "[bash] [bash write] [b]" {
		t.Errorf("the keys are %s", got)
	}
}

func TestKeysThatCannotBePanic(t *testing.T) {
	verify := func(context.Context, *fixture.Run, fixture.Item) error { return nil }
	for name, c := range map[string]struct {
		register func(h *fixture.Hooks, ran *[]string)
		says     []string
	}{
		"none given": {
			func(*fixture.Hooks, *[]string) { fixture.ForKind() },
			[]string{"ForKind at tests/runtime/keys_test.go:", "no key is given"},
		},
		"nothing in common": {
			func(h *fixture.Hooks, ran *[]string) {
				h.Use(points.Bundle(func(h *fixture.Hooks) {
					h.KeyedVerify.Add(noting(ran, "a"), fixture.ForKind("bash"), hookkit.Named("a"))
				}), fixture.ForKind("read"))
			},
			[]string{"Use at ", "KeyedVerify: a (", "no key in common"},
		},
		"a point without key": {
			func(h *fixture.Hooks, _ *[]string) {
				//hookvet:ignore options this test is about the panic
				h.Verify.AddFunc(verify, fixture.ForKind("bash"), hookkit.Named("a"))
			},
			[]string{"Verify.AddFunc at tests/runtime/keys_test.go:", "Verify: a (", "ForKind", "the point has no key"},
		},
		"a point with another key": {
			//hookvet:ignore options this test is about the panic
			func(h *fixture.Hooks, ran *[]string) { h.KeyedVerify.Add(noting(ran, "a"), fixture.ForNumber(1)) },
			[]string{"KeyedVerify.Add at ", "ForNumber", "the key of the point is Kind", "use ForKind"},
		},
		"two keys": {
			func(h *fixture.Hooks, ran *[]string) {
				//hookvet:ignore options this test is about the panic
				h.KeyedVerify.Add(noting(ran, "a"), fixture.ForKind("a"), fixture.ForNumber(1))
			},
			[]string{"KeyedVerify.Add at ", "options ForKind and ForNumber: a point has one key; remove one of them"},
		},
		"a bundle with a point without the key": {
			func(h *fixture.Hooks, ran *[]string) {
				h.Use(points.Bundle(func(h *fixture.Hooks) {
					h.KeyedVerify.Add(noting(ran, "a"))
					h.Verify.AddFunc(verify)
				}), fixture.ForKind("bash"))
			},
			[]string{"Use at ", "Verify: ", "ForKind", "the point has no key"},
		},
		"an observer of all points": {
			func(h *fixture.Hooks, _ *[]string) {
				h.ObserveAny(points.AnyObserver(func(points.Fired) {}), fixture.ForKind("a"))
			},
			[]string{"ObserveAny at ", "ForKind"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h fixture.Hooks
			var ran []string
			text := panicOf(func() { c.register(&h, &ran) })
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("panicked with %q, want %q", text, want)
				}
			}
			for _, p := range h.Points() {
				if len(p.Hooks())+len(p.Observers()) > 0 {
					t.Errorf("something is registered at %s", p.Name)
				}
			}
		})
	}
}

// A pointer payload that is changed in place keeps the key of the start. Only passing it on is a change of the key.
func TestPointersKeepTheKeyOfTheStart(t *testing.T) {
	var h fixture.Hooks
	var ran []string
	h.KeyedPointer.AddFunc(func(
		_ context.Context, _ *fixture.Run, i *fixture.Item,
	) (fixture.KeyedPointerOutcome, error) {
		//hookvet:ignore sharedpayload the hook breaks the rule on purpose
		i.ID = 2
		return nil, nil
	})
	for _, number := range []int{1, 2} {
		h.KeyedPointer.AddFunc(func(
			context.Context, *fixture.Run, *fixture.Item,
		) (fixture.KeyedPointerOutcome, error) {
			ran = append(ran, fmt.Sprint(number))
			return nil, nil
		}, fixture.ForNumber(number))
	}
	item := &fixture.Item{ID: 1}
	if err := h.KeyedPointer.Fire(t.Context(), newRun(), &item); err != nil || !slices.Equal(ran, []string{"1"}) {
		t.Errorf("ran %v, %v", ran, err)
	}
	h.KeyedPointer.AddFunc(func(
		_ context.Context, _ *fixture.Run, i *fixture.Item,
	) (fixture.KeyedPointerOutcome, error) {
		return fixture.ReplaceKeyedPointer(i, ""), nil
	})
	item = &fixture.Item{ID: 1}
	err := h.KeyedPointer.Fire(t.Context(), newRun(), &item)
	if !errors.Is(err, hookkit.ErrIllegal) || !strings.Contains(err.Error(), `the key Number is "2" now and was "1"`) {
		t.Errorf("a replacement with another key: %v", err)
	}
}

// A tracer changes no decision, although the hooks before this one changed the key in place.
func TestTracedPointersKeepTheKeyOfTheStart(t *testing.T) {
	var h fixture.Hooks
	h.Trace(hookkit.SlogTracer(slog.New(slog.DiscardHandler)))
	h.KeyedPointer.AddFunc(func(
		_ context.Context, _ *fixture.Run, i *fixture.Item,
	) (fixture.KeyedPointerOutcome, error) {
		//hookvet:ignore sharedpayload the hook breaks the rule on purpose
		i.ID = 2
		return nil, nil
	})
	h.KeyedPointer.AddFunc(func(
		context.Context, *fixture.Run, *fixture.Item,
	) (fixture.KeyedPointerOutcome, error) {
		return fixture.ReplaceKeyedPointer(&fixture.Item{ID: 1, Note: "replaced"}, ""), nil
	})
	item := &fixture.Item{ID: 1}
	if err := h.KeyedPointer.Fire(t.Context(), newRun(), &item); err != nil || item.Note != "replaced" {
		t.Errorf("the fire left %+v, %v", item, err)
	}
}

// A record whose payload lost its key is replayed with the recorded key.
func TestReplayUsesTheRecordedKey(t *testing.T) {
	var h fixture.Hooks
	var ran []string
	h.KeyedVerify.Add(noting(&ran, "guard"), fixture.ForKind("bash"))
	var record bytes.Buffer
	reg := h.ObserveAny(fixture.Record(hooklog.Lines(&record, hooklog.Redact(func(v []byte) json.RawMessage {
		return bytes.ReplaceAll(v, []byte(`"Kind":"bash"`), []byte(`"Kind":"***"`))
	}))))
	if err := h.KeyedVerify.Fire(t.Context(), newRun(), parcel("bash")); err != nil {
		t.Fatal(err)
	}
	reg.Remove()
	text := record.String()
	if !strings.Contains(text, `"key":"bash","payload":`) || !strings.Contains(text, `"Kind":"***"`) {
		t.Errorf("recorded is %s", text)
	}
	for c, err := range hooklog.Replay(t.Context(), hooklog.Read(&record), h.Points()) {
		if err != nil || c.Status != hooklog.Same {
			t.Errorf("compared is %+v, %v", c, err)
		}
	}
	if len(ran) != 2 {
		t.Errorf("the guard ran %d times", len(ran))
	}
}

// The hooks replace a payload whose key was redacted. It is the recorded key that runs them, and the redacted one that
// must not change.
func TestReplayOfARedactedKeyMayReplace(t *testing.T) {
	var h fixture.Hooks
	for _, keep := range []bool{true, false} {
		h.KeyedRewriteClosed.AddFunc(func(
			_ context.Context, _ *fixture.Run, p fixture.Parcel,
		) (fixture.KeyedRewriteClosedOutcome, error) {
			if p.Note += "+"; !keep && p.Item.Tool == "move" {
				p.Tag.Kind = "other"
			}
			return fixture.ReplaceKeyedRewriteClosed(p, ""), nil
		}, fixture.ForKind("bash"))
	}
	at := points.Named("KeyedRewriteClosed").At(&h)
	fired, err := at.FireKey(t.Context(), newRun(), "bash", parcel("***"))
	if final, _ := fired.Final.(fixture.Parcel); err != nil || final.Note != "++" || final.Tag.Kind != "***" {
		t.Errorf("the fire left %+v, %v", fired.Final, err)
	}
	moved := parcel("***")
	moved.Item.Tool = "move"
	if _, err := at.FireKey(t.Context(), newRun(), "bash", moved); !errors.Is(err, hookkit.ErrIllegal) {
		t.Errorf("a replacement with another key: %v", err)
	}
}

// A service whose hooks are for some keys only gets no other calls, and the program may narrow them.
func TestServicesGetCallsForTheirKeys(t *testing.T) {
	var ran []string
	for name, c := range map[string]struct {
		add  func(service *fixture.Hooks)
		opts []hookkit.UseOption
		want int // of three calls
	}{
		"some keys": {func(h *fixture.Hooks) { h.KeyedVerify.Add(noting(&ran, ""), fixture.ForKind("bash", "sh")) }, nil, 2},
		"all keys": {func(h *fixture.Hooks) {
			h.KeyedVerify.Add(noting(&ran, ""), fixture.ForKind("bash"))
			h.KeyedVerify.Add(noting(&ran, ""))
		}, nil, 3},
		"narrowed": {func(h *fixture.Hooks) { h.KeyedVerify.Add(noting(&ran, ""), fixture.ForKind("bash", "sh")) },
			[]hookkit.UseOption{fixture.ForKind("read", "sh")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var service, program fixture.Hooks
			c.add(&service)
			calls := 0
			hook, err := fixture.Remote(t.Context(), remote.Caller{Name: "guards", To: fixture.Serve(&service, nil)},
				wire.Observe(func(wire.Call) { calls++ }))
			if err != nil {
				t.Fatal(err)
			}
			program.Use(hook, c.opts...)
			for _, kind := range []string{"bash", "sh", "read"} {
				if err := program.KeyedVerify.Fire(t.Context(), newRun(), parcel(kind)); err != nil {
					t.Error(err)
				}
			}
			if calls != c.want {
				t.Errorf("the service got %d calls", calls)
			}
		})
	}
}

// JSON changes this key, so that the program would never ask the service for it.
func TestServicesWithKeysThatJSONChangesDoNotConnect(t *testing.T) {
	var service fixture.Hooks
	var ran []string
	service.KeyedVerify.Add(noting(&ran, ""), fixture.ForKind("b\xffsh"))
	_, err := fixture.Remote(t.Context(), fixture.Serve(&service, nil))
	if err == nil || !strings.Contains(err.Error(), `for the Kind "b\xffsh", which JSON changes`) {
		t.Errorf("connected with %v", err)
	}
}

// A describedCaller is a service with a description of its own.
type describedCaller struct {
	wire.Caller
	description wire.Description
}

func (c describedCaller) Describe(context.Context) (wire.Description, error) {
	return c.description, nil
}

func TestServicesWithImpossibleKeysAreRefused(t *testing.T) {
	values := []json.RawMessage{[]byte(`"bash"`)}
	for name, c := range map[string]struct {
		point string
		keys  wire.Keys
		want  string
	}{
		"another key":     {"KeyedVerify", wire.Keys{Key: "Tool", Values: values}, `the key of the point is "Kind"`},
		"no key there":    {"Verify", wire.Keys{Values: values}, `the key of the point is ""`},
		"none":            {"KeyedVerify", wire.Keys{Key: "Kind"}, "0 values"},
		"of another type": {"KeyedPointer", wire.Keys{Key: "Number", Values: values}, `the key "bash", which cannot be read`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fixture.Remote(t.Context(), describedCaller{description: wire.Description{
				Protocol: wire.Protocol, Spec: "github.com/hookgen/hookgen/tests/fixture", Points: []string{c.point},
				Keys: map[string]wire.Keys{c.point: c.keys},
			}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPointsFireForARecordedKey(t *testing.T) {
	var h fixture.Hooks
	var ran []string
	var keys []any
	h.KeyedVerify.Add(noting(&ran, "bash"), fixture.ForKind("bash"))
	at := points.Named("KeyedVerify").At(&h)
	at.ObserveAny(func(_ context.Context, _ hookkit.AnyRun, fired hookkit.AnyFired) { keys = append(keys, fired.Key) })
	if fired, err := at.Fire(t.Context(), newRun(), parcel("bash")); err != nil || fired.Key != "bash" {
		t.Errorf("fired %+v, %v", fired, err)
	}
	if fired, err := at.FireKey(t.Context(), newRun(), "bash", parcel("[redacted]")); err != nil || fired.Key != "bash" {
		t.Errorf("fired %+v, %v", fired, err)
	}
	if err := h.KeyedVerify.Fire(t.Context(), newRun(), parcel("sh")); err != nil {
		t.Error(err)
	}
	if !slices.Equal(ran, []string{"bash", "bash"}) || !slices.Equal(keys, []any{"bash", "bash", "sh"}) {
		t.Errorf("ran %v, observed the keys %v", ran, keys)
	}
	_, err := at.FireKey(t.Context(), newRun(), 7, parcel(""))
	if err == nil || !strings.Contains(err.Error(), "the key is a int; pass a string") {
		t.Errorf("a key of another type: %v", err)
	}
	_, err = points.Named("Verify").At(&h).FireKey(t.Context(), newRun(), "x", fixture.Item{})
	if err == nil || !strings.Contains(err.Error(), "Verify has no key") {
		t.Errorf("a point without key: %v", err)
	}
}

func TestNilPointersHaveTheZeroKey(t *testing.T) {
	var h fixture.Hooks
	ran := 0
	h.KeyedPointer.AddFunc(func(
		_ context.Context, _ *fixture.Run, i *fixture.Item,
	) (fixture.KeyedPointerOutcome, error) {
		ran++
		return fixture.ReplaceKeyedPointer(nil, ""), nil
	}, fixture.ForNumber(0))
	var item *fixture.Item
	if err := h.KeyedPointer.Fire(t.Context(), newRun(), &item); err != nil || ran != 1 {
		t.Errorf("ran %d hooks, %v", ran, err)
	}
}

// Payloads come from outside. For example, a model makes up names of tools: none of them stays in memory.
func TestUnknownKeysAreNotStored(t *testing.T) {
	var h fixture.Hooks
	var ran []string
	h.KeyedVerify.Add(noting(&ran, "known"), fixture.ForKind(strings.Repeat("k", 1<<20)))
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run := newRun()
	before := heap()
	for i := range 100 {
		if err := h.KeyedVerify.Fire(t.Context(), run, parcel(strings.Repeat(fmt.Sprint(i%10), 1<<20))); err != nil {
			t.Fatal(err)
		}
	}
	if kept := int64(heap()) - int64(before); kept > 2<<20 {
		t.Errorf("100 unknown keys of 1 MB left %d bytes", kept)
	}
	if err := h.KeyedVerify.Fire(t.Context(), run, parcel(strings.Repeat("k", 1<<20))); err != nil || len(ran) != 1 {
		t.Errorf("a key of 1 MB ran %v, %v", ran, err)
	}
	runtime.KeepAlive(&h)
}

func TestFiresWithKeysAllocateNothing(t *testing.T) {
	var h fixture.Hooks
	var ran []string
	for i := range 100 {
		h.KeyedVerify.Add(noting(&ran, ""), fixture.ForKind(fmt.Sprint("tool", i%10)))
	}
	ran = make([]string, 0, 1<<12)
	run := newRun()
	for _, kind := range []string{"tool1", "unknown"} {
		p := parcel(kind)
		if n := testing.AllocsPerRun(100, func() { _ = h.KeyedVerify.Fire(context.Background(), run, p) }); n != 0 {
			t.Errorf("a fire for %s makes %v allocations", kind, n)
		}
	}
}
