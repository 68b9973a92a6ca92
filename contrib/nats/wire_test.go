package nats_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
)

// echo replies with the point and the payload of the request.
type echo struct{}

func (echo) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Protocol: wire.Protocol, Spec: "s", Points: []string{"A"}}, nil
}

func (echo) Call(_ context.Context, q wire.Request) (wire.Reply, error) {
	return wire.Reply{Decision: q.Point, Value: q.Payload}, nil
}

// handler answers calls with a function.
type handler func(context.Context, wire.Request) (wire.Reply, error)

func (handler) Describe(context.Context) (wire.Description, error) {
	return wire.Description{}, errors.New("secret")
}

func (h handler) Call(ctx context.Context, q wire.Request) (wire.Reply, error) { return h(ctx, q) }

// serve serves a handler on "hooks" until the end of the test.
func serve(t testing.TB, c *nats.Conn, h wire.Handler, opts ...nats.ServiceOption) *nats.Service {
	t.Helper()
	s, err := nats.Serve(c, "hooks", h, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// reports collects the reports of a connection.
type reports struct {
	mu  sync.Mutex
	all []string
	new chan struct{} // gets a value for each report
}

func (r *reports) option() nats.Option {
	r.new = make(chan struct{}, 10_000)
	return nats.OnError(func(err error) {
		r.mu.Lock()
		r.all = append(r.all, err.Error())
		r.mu.Unlock()
		r.new <- struct{}{}
	})
}

// wait waits for a report with a text.
func (r *reports) wait(t testing.TB, text string) {
	t.Helper()
	for {
		r.mu.Lock()
		all := strings.Join(r.all, "\n")
		r.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-r.new:
		case <-t.Context().Done():
			t.Fatalf("no report contains %q: %s", text, all)
		}
	}
}

func TestMessagesTravelBothWays(t *testing.T) {
	s := newServer(t)
	serve(t, connect(t, s.URL()), echo{})
	c := nats.NewCaller(connect(t, s.URL()), "hooks")
	d, err := c.Describe(t.Context())
	if err != nil || d.Spec != "s" || len(d.Points) != 1 {
		t.Errorf("Describe returned %+v, %v", d, err)
	}
	r, err := c.Call(t.Context(), wire.Request{Point: "Stop", Payload: json.RawMessage(`{"Text":"</script>\u2028"}`)})
	if err != nil || r.Decision != "Stop" || string(r.Value) != `{"Text":"\u003c/script\u003e\u2028"}` {
		t.Errorf("Call returned %+v, %v", r, err)
	}
	if name := c.String(); name != s.URL()+" hooks" {
		t.Errorf("the name is %q", name)
	}
}

// TestWrongServicesAreErrors: a reply that breaks the protocol is an error of the call.
func TestWrongServicesAreErrors(t *testing.T) {
	s := newServer(t)
	service := connect(t, s.URL())
	answer := func(replies ...*client.Msg) func(*client.Msg) {
		return func(m *client.Msg) {
			for _, r := range replies {
				_ = m.RespondMsg(r)
			}
		}
	}
	data := func(text string) *client.Msg { return &client.Msg{Data: []byte(text)} }
	for i, c := range []struct {
		name   string
		answer func(*client.Msg)
		want   string
	}{
		{"not JSON", answer(data("hello")), "not JSON"},
		{"empty", answer(data("")), "not JSON"},
		{"an unknown field", answer(data(`{"permit":true}`)), "$.permit: unknown field"},
		{"too large", answer(data(`"` + strings.Repeat("x", 2000) + `"`)), "more than 1000 bytes"},
		{"a refusal", answer(&client.Msg{Header: client.Header{"Hookgen-Error": {"no"}}, Data: []byte("{}")}), "no"},
		{"silence", func(*client.Msg) {}, "no reply within 200ms"},
		{"two replies", answer(data(`{"decision":"continue"}`), data(`{"decision":"Deny"}`)), ""},
		{"nobody", nil, "no service answers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			subject := fmt.Sprint("wrong.", i)
			if c.answer != nil {
				if _, err := service.Client().Subscribe(subject+".call", c.answer); err != nil {
					t.Fatal(err)
				}
				if err := service.Client().Flush(); err != nil {
					t.Fatal(err)
				}
			}
			limit := time.Minute // the others reply, perhaps slowly
			if c.name == "silence" {
				limit = 200 * time.Millisecond
			}
			caller := nats.NewCaller(connect(t, s.URL()), subject, nats.MaxBytes(1000), nats.Timeout(limit))
			for range 2 {
				r, err := caller.Call(t.Context(), wire.Request{})
				if c.want == "" {
					if err != nil || r.Decision != "continue" {
						t.Errorf("Call returned %+v, %v; want the first reply", r, err)
					}
				} else if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Call returned %+v, %v; want an error with %q", r, err, c.want)
				}
			}
		})
	}
}

func TestServicesRefuseWrongRequests(t *testing.T) {
	s := newServer(t)
	var seen reports
	serve(t, connect(t, s.URL(), seen.option()), handler(func(context.Context, wire.Request) (wire.Reply, error) {
		panic("secret")
	}), nats.MaxBytes(100))
	c := connect(t, s.URL()).Client()
	for _, q := range []struct{ name, subject, body, want, report string }{
		{"large", "hooks.call", strings.Repeat("x", 101), "more than 100 bytes", "more than 100 bytes"},
		{"not JSON", "hooks.call", "{", "not JSON", "not JSON"},
		{"empty", "hooks.call", "", "not JSON", "not JSON"},
		{"a panic", "hooks.call", "{}", "the service failed", "a panic: secret"},
		{"an error", "hooks.describe", "", "the service failed", "secret"},
	} {
		t.Run(q.name, func(t *testing.T) {
			m, err := c.RequestWithContext(t.Context(), q.subject, []byte(q.body))
			if err != nil || m.Header.Get("Hookgen-Error") == "" || !strings.Contains(m.Header.Get("Hookgen-Error"), q.want) {
				t.Errorf("the reply is %+v, %v", m, err)
			}
			seen.wait(t, q.report)
		})
	}
}

// TestRefusedRequestsAreTold: a payload that is too large is no failure of the service, which would pause it for all.
func TestRefusedRequestsAreTold(t *testing.T) {
	s := newServer(t)
	var seen reports
	serve(t, connect(t, s.URL(), seen.option()), echo{}, nats.MaxBytes(1000))
	caller := nats.NewCaller(connect(t, s.URL()), "hooks")
	for _, size := range []int{2000, 9 << 20} { // more than the service reads, and more than the server carries
		payload := json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
		if _, err := caller.Call(t.Context(), wire.Request{Payload: payload}); !errors.Is(err, wire.ErrRefused) {
			t.Errorf("a payload of %d bytes: %v", size, err)
		}
	}
}

// TestRepliesGoToInboxes: a request cannot make the service write to a bucket.
func TestRepliesGoToInboxes(t *testing.T) {
	s := newServer(t)
	var seen reports
	service := connect(t, s.URL(), seen.option())
	b := bucketOf(t, service, nats.Limits{})
	serve(t, service, echo{})
	c := connect(t, s.URL()).Client()
	for _, reply := range []string{"$KV.test.k.key", "hooks.call", ""} {
		if err := c.PublishRequest("hooks.call", reply, []byte("{}")); reply != "" && err != nil {
			t.Fatal(err)
		} else if reply == "" {
			if err := c.Publish("hooks.call", []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		seen.wait(t, fmt.Sprintf("reply on %q", reply))
	}
	if keys, err := b.Keys(t.Context(), ""); len(keys) > 0 || err != nil {
		t.Errorf("the keys are %q, %v", keys, err)
	}
}

func TestLargeMessagesAreErrors(t *testing.T) {
	s := newServer(t)
	serve(t, connect(t, s.URL()), handler(func(context.Context, wire.Request) (wire.Reply, error) {
		return wire.Reply{Reason: strings.Repeat("x", 9<<20)}, nil
	}))
	c := nats.NewCaller(connect(t, s.URL()), "hooks")
	large, _ := json.Marshal(strings.Repeat("x", 9<<20))
	for payload, want := range map[string]string{"{}": "the reply has 9437", string(large): "the request has 9437"} {
		if _, err := c.Call(t.Context(), wire.Request{Payload: []byte(payload)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("Call: %v; want %q", err, want)
		}
	}
}

// TestOneServiceAnswersEachRequest: services on one subject share the requests.
func TestOneServiceAnswersEachRequest(t *testing.T) {
	s := newServer(t)
	var calls [3]atomic.Int64
	for i := range calls {
		serve(t, connect(t, s.URL()), handler(func(context.Context, wire.Request) (wire.Reply, error) {
			calls[i].Add(1)
			return wire.Reply{Decision: wire.Continue}, nil
		}))
	}
	c := nats.NewCaller(connect(t, s.URL()), "hooks")
	for range 100 {
		if _, err := c.Call(t.Context(), wire.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	sum := int64(0)
	for i := range calls {
		n := calls[i].Load()
		if sum += n; n == 0 {
			t.Errorf("the service %d got no request", i)
		}
	}
	if sum != 100 {
		t.Errorf("%d requests for 100 calls", sum)
	}
}

func TestCancellationEndsACall(t *testing.T) {
	s := newServer(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the run was stopped")
	release := make(chan struct{})
	defer close(release)
	serve(t, connect(t, s.URL()), handler(func(context.Context, wire.Request) (wire.Reply, error) {
		cancel(stopped)
		<-release
		return wire.Reply{}, nil
	}))
	c := nats.NewCaller(connect(t, s.URL()), "hooks")
	for _, when := range []string{"during", "before"} {
		if _, err := c.Call(ctx, wire.Request{}); !errors.Is(err, stopped) {
			t.Errorf("%s the call: %v, want the cause of the cancellation", when, err)
		}
	}
}

// TestHooksGetTheTimeOfTheCaller: a hook does not work longer than the program waits.
func TestHooksGetTheTimeOfTheCaller(t *testing.T) {
	s := newServer(t)
	left := make(chan time.Duration, 2)
	h := handler(func(ctx context.Context, _ wire.Request) (wire.Reply, error) {
		deadline, _ := ctx.Deadline()
		left <- time.Until(deadline)
		return wire.Reply{Decision: wire.Continue}, nil
	})
	serve(t, connect(t, s.URL()), h, nats.Timeout(time.Minute))
	for limit, most := range map[time.Duration]time.Duration{time.Hour: time.Minute, 20 * time.Second: 20 * time.Second} {
		c := nats.NewCaller(connect(t, s.URL()), "hooks", nats.Timeout(limit))
		if _, err := c.Call(t.Context(), wire.Request{}); err != nil {
			t.Fatal(err)
		}
		if d := <-left; d > most || d < most/2 {
			t.Errorf("with the limit %v the hooks get %v, want %v", limit, d, most)
		}
	}
}

// TestCloseAnswersRequestsUnderWay closes a service while hooks decide.
func TestCloseAnswersRequestsUnderWay(t *testing.T) {
	s := newServer(t)
	begun, release := make(chan struct{}, 20), make(chan struct{})
	service := serve(t, connect(t, s.URL()), handler(func(context.Context, wire.Request) (wire.Reply, error) {
		begun <- struct{}{}
		<-release
		return wire.Reply{Decision: wire.Continue}, nil
	}), nats.MaxCalls(4))
	c := nats.NewCaller(connect(t, s.URL()), "hooks")
	const requests = 10 // some of them wait in the service
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			if r, err := c.Call(t.Context(), wire.Request{}); err != nil || r.Decision != wire.Continue {
				t.Errorf("a request under way: %+v, %v", r, err)
			}
		})
	}
	for range 4 {
		<-begun
	}
	waiting := nats.Waiting(service)
	for waiting() < requests-4 { // they are on their way
		runtime.Gosched()
	}
	closed := make(chan error)
	go func() { closed <- service.Close(t.Context()) }()
	close(release)
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	all.Wait()
	if _, err := c.Call(t.Context(), wire.Request{}); err == nil {
		t.Error("a closed service answered")
	}
}

// TestAServiceThatDiesIsAnError: the program learns of it when its time is over, and the next call at once.
func TestAServiceThatDiesIsAnError(t *testing.T) {
	s := newServer(t)
	service := connect(t, s.URL())
	serve(t, service, handler(func(context.Context, wire.Request) (wire.Reply, error) {
		_ = service.Close()
		return wire.Reply{Decision: wire.Continue}, nil
	}))
	c := nats.NewCaller(connect(t, s.URL()), "hooks", nats.Timeout(200*time.Millisecond))
	const silence, gone = "no reply within 200ms", "no service answers"
	last := ""
	for calls := 0; !strings.Contains(last, gone); calls++ { // the server may need a moment to notice the death
		r, err := c.Call(t.Context(), wire.Request{})
		if err == nil || !strings.Contains(err.Error(), silence) && (calls == 0 || !strings.Contains(err.Error(), gone)) {
			t.Fatalf("Call returned %+v, %v; want %q, and then %q", r, err, silence, gone)
		}
		last = err.Error()
	}
}

func TestAnotherVersionIsRefused(t *testing.T) {
	s := newServer(t)
	serve(t, connect(t, s.URL()), fixture.Serve(new(fixture.Hooks), nil))
	c := nats.NewCaller(connect(t, s.URL()), "hooks")
	r, err := c.Call(t.Context(), wire.Request{Protocol: wire.Protocol + 1, Payload: []byte("{}")})
	if err != nil || !strings.Contains(r.Error, "version 2 of the protocol") {
		t.Errorf("Call returned %+v, %v", r, err)
	}
}

func TestCloseEndsSlowHooks(t *testing.T) {
	s := newServer(t)
	begun, ended := make(chan struct{}), make(chan struct{})
	service := serve(t, connect(t, s.URL()), handler(func(ctx context.Context, _ wire.Request) (wire.Reply, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return wire.Reply{}, ctx.Err()
	}))
	go func() {
		_, _ = nats.NewCaller(connect(t, s.URL()), "hooks").Call(t.Context(), wire.Request{})
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := service.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: %v", err)
	}
	<-ended
}

// TestWaitingRequestsLoseTheirTime: a request waits in a busy service until its sender has given up. It is not answered
// later.
func TestWaitingRequestsLoseTheirTime(t *testing.T) {
	s := newServer(t)
	begun, release := make(chan struct{}, 3), make(chan struct{})
	service := serve(t, connect(t, s.URL()), handler(func(context.Context, wire.Request) (wire.Reply, error) {
		begun <- struct{}{}
		<-release
		return wire.Reply{Decision: wire.Continue}, nil
	}), nats.MaxCalls(1))
	conn := connect(t, s.URL())
	first := make(chan error)
	go func() {
		_, err := nats.NewCaller(conn, "hooks").Call(t.Context(), wire.Request{})
		first <- err
	}()
	<-begun
	hasty := nats.NewCaller(conn, "hooks", nats.Timeout(50*time.Millisecond))
	waiting := nats.Waiting(service)
	for arrived := false; !arrived; { // on a busy machine a request may come after its time
		failed := make(chan error)
		go func() {
			_, err := hasty.Call(t.Context(), wire.Request{})
			failed <- err
		}()
		for over := false; !over; {
			select {
			case err := <-failed:
				if over = true; err == nil {
					t.Fatal("a request that waits was answered")
				}
			default:
				arrived = arrived || waiting() > 0
				runtime.Gosched()
			}
		}
	}
	for waiting() > 0 {
		runtime.Gosched()
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if _, err := nats.NewCaller(conn, "hooks").Call(t.Context(), wire.Request{}); err != nil {
		t.Error(err)
	}
	if n := len(begun); n != 1 {
		t.Errorf("%d requests were answered, want 2", n+1)
	}
}

// TestSlowServicesReportDroppedRequests sends more requests than a service can hold.
func TestSlowServicesReportDroppedRequests(t *testing.T) {
	s := newServer(t)
	var seen reports
	release := make(chan struct{})
	serve(t, connect(t, s.URL(), seen.option()), handler(func(context.Context, wire.Request) (wire.Reply, error) {
		<-release
		return wire.Reply{}, nil
	}), nats.MaxCalls(1))
	c := connect(t, s.URL()).Client()
	for range 100 {
		if err := c.PublishRequest("hooks.call", "_INBOX.nobody", []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	seen.wait(t, "are dropped: 16 wait already")
	close(release)
}

func TestSubjectsHaveNoWildcards(t *testing.T) {
	c := connect(t, newServer(t).URL())
	for _, subject := range []string{
		"", "*", "a.>", "a..b", ".a", "a.", "a b", "$KV.x", "a\r\nPUB x 0", strings.Repeat("a", 999),
	} {
		if _, err := nats.Serve(c, subject, echo{}); err == nil {
			t.Errorf("Serve accepts the subject %q", subject)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewCaller accepts the subject %q", subject)
				}
			}()
			nats.NewCaller(c, subject)
		}()
	}
}

// wirePoints are the points of the fixture that have messages.
func wirePoints(h *fixture.Hooks) (all []hookkit.AnyPoint) {
	for _, p := range h.Points() {
		if p.Name != "OnError" && !strings.Contains(p.Results, "Around") {
			all = append(all, p)
		}
	}
	return all
}

// TestHooksDecideElsewhere: a hook of another process has the effect of the same hook in this process, for every
// point, outcome and payload.
func TestHooksDecideElsewhere(t *testing.T) {
	server := newServer(t)
	for i, point := range wirePoints(new(fixture.Hooks)) {
		t.Run(point.Name, func(t *testing.T) {
			var local, service, host fixture.Hooks
			var act hookkit.AnyHook
			for _, h := range []*fixture.Hooks{&local, &service} {
				wirePoints(h)[i].AddAny(func(ctx context.Context, r hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
					return act(ctx, r, c)
				})
			}
			for _, h := range []*fixture.Hooks{&local, &service, &host} {
				h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			}
			subject := "fixture." + point.Name
			s, err := nats.Serve(connect(t, server.URL()), subject, fixture.Serve(&service, nil))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			remote, err := fixture.Remote(t.Context(), nats.NewCaller(connect(t, server.URL()), subject))
			if err != nil {
				t.Fatal(err)
			}
			host.Use(remote)
			rapid.Check(t, func(rt *rapid.T) {
				act = drawAct(rt, point)
				payload := drawValue(rt, reflect.TypeOf(point.New()).Elem()).Interface()
				want, _ := wirePoints(&local)[i].Fire(t.Context(), fixture.NewRun(nil), payload)
				got, _ := wirePoints(&host)[i].Fire(t.Context(), fixture.NewRun(nil), payload)
				if !reflect.DeepEqual(got.Exit, want.Exit) || (got.Err == nil) != (want.Err == nil) ||
					want.Err == nil && (got.Decision != want.Decision || got.Reason != want.Reason ||
						!reflect.DeepEqual(got.Collected, want.Collected) ||
						want.Exit == nil && !reflect.DeepEqual(got.Final, want.Final)) {
					rt.Errorf("the result is %+v, locally %+v", got, want)
				}
			})
		})
	}
}

// drawAct draws a hook that always does the same.
func drawAct(t *rapid.T, p hookkit.AnyPoint) hookkit.AnyHook {
	var reply hookkit.AnyReply
	var err error
	if p.Contribution != nil {
		if all := drawValue(t, reflect.SliceOf(p.Contribution)); all.Len() > 0 {
			reply.Collected = all.Interface()
		}
	}
	switch n := rapid.IntRange(-1, len(p.Outcomes)).Draw(t, "act"); {
	case n == -1:
		reply, err = hookkit.AnyReply{}, errors.New("failed")
	case n < len(p.Outcomes):
		o := p.Outcomes[n]
		reply.Outcome, err = o.New(drawValue(t, o.Type).Interface(), rapid.String().Draw(t, "reason"))
	}
	return func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { return reply, err }
}

// drawValue draws a value that encoding/json writes and reads unchanged.
func drawValue(t *rapid.T, typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			if typ.Field(i).IsExported() {
				v.Field(i).Set(drawValue(t, typ.Field(i).Type))
			}
		}
	case reflect.Pointer:
		v.Set(drawValue(t, typ.Elem()).Addr())
	case reflect.Slice:
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			v.Set(reflect.Append(v, drawValue(t, typ.Elem())))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			v.SetMapIndex(drawValue(t, typ.Key()), drawValue(t, typ.Elem()))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Interface:
		v.Set(reflect.ValueOf(rapid.String().Draw(t, "text")))
	default:
		t.Fatalf("no drawing of a %v", typ)
	}
	return v
}
