package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"example.com/gateway/points"
)

// A stub is a plug-in that answers requests with its status, and says when it is closed.
type stub struct {
	status int
	closed chan struct{}
}

func stubSet(status int) (set, *stub) {
	s := &stub{status, make(chan struct{})}
	return set{{PluginConfig: PluginConfig{Name: "stub", timeout: time.Second}, hook: s, closer: s}}, s
}

func (s *stub) Bind(h *points.Hooks) {
	h.OnRequest.AddFunc(func(context.Context, *points.Run, points.Request) (points.OnRequestOutcome, error) {
		return points.Respond{Status: s.status}, nil
	})
}

func (s *stub) Close() error {
	close(s.closed)
	return nil
}

func (s *stub) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// answer fires a version as a request does. It returns 0 if no plug-in answers.
func answer(t *testing.T, v *version) int {
	t.Helper()
	var r points.Request
	exit, err := v.hooks.OnRequest.Fire(t.Context(), points.NewRun(struct{}{}), &r)
	if err != nil {
		t.Error(err)
	}
	respond, _ := exit.(points.Respond)
	return respond.Status
}

// TestExchangeKeepsItsOrder: a version that a request has keeps its plug-ins, which are closed after the request. The
// next request has the new version with its plug-ins.
func TestExchangeKeepsItsOrder(t *testing.T) {
	g := NewGateway(nil)
	first, one := stubSet(201)
	second, two := stubSet(202)
	var held []*version
	for _, step := range []struct {
		plugins set
		want    int
	}{{nil, 0}, {first, 201}, {second, 202}, {nil, 0}, {nil, 0}} {
		if err := g.exchange(&version{}, step.plugins); err != nil {
			t.Fatal(err)
		}
		held = append(held, g.current.Load())
		if got := answer(t, g.current.Load()); got != step.want {
			t.Errorf("the answer is %d, want %d", got, step.want)
		}
	}
	for i, want := range []int{0, 201, 202, 0, 0} {
		if got := answer(t, held[i]); got != want {
			t.Errorf("version %d answers %d later, want %d", i, got, want)
		}
	}
	if one.isClosed() || two.isClosed() {
		t.Error("a plug-in was closed under a request")
	}
	runtime.KeepAlive(held)
	if err := g.Close(); err != nil || !one.isClosed() || !two.isClosed() {
		t.Errorf("Close: %v, and a plug-in is open", err)
	}
}

// TestExchangeThatFailsChangesNothing: the plug-ins that do not fit panic when they are registered.
func TestExchangeThatFailsChangesNothing(t *testing.T) {
	g := NewGateway(nil)
	plugins, s := stubSet(201)
	if err := g.exchange(&version{}, plugins); err != nil {
		t.Fatal(err)
	}
	before := g.current.Load()
	bad := set{{PluginConfig: PluginConfig{Name: "bad"}, hook: badHook{}}}
	if err := g.exchange(&version{}, bad); err == nil || g.current.Load() != before || answer(t, before) != 201 {
		t.Errorf("the error is %v, the version %v, the answer %d", err, g.current.Load(), answer(t, before))
	}
	if fresh := g.hooks.Pinned(); answer(t, &version{hooks: fresh}) != 201 {
		t.Error("the old plug-ins are gone")
	}
	if err := g.Close(); err != nil || !s.isClosed() {
		t.Errorf("Close: %v, and the plug-in is open", err)
	}
}

type badHook struct{}

func (badHook) Bind(*points.Hooks) { panic(errors.New("it does not fit")) }

// TestExchangeUnderFires: each fire is answered by the plug-ins of its version.
func TestExchangeUnderFires(t *testing.T) {
	g := NewGateway(nil)
	versions := sync.Map{}
	exchange := func(status int) {
		plugins, _ := stubSet(status)
		next := &version{}
		versions.Store(next, status)
		if err := g.exchange(next, plugins); err != nil {
			t.Error(err)
		}
	}
	exchange(200)
	done := make(chan struct{})
	var fires sync.WaitGroup
	for range 2 {
		fires.Go(func() {
			for {
				v := g.current.Load()
				if want, _ := versions.Load(v); answer(t, v) != want {
					t.Error("a fire has the plug-ins of another version")
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := range 200 {
		exchange(201 + n)
	}
	close(done)
	fires.Wait()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
