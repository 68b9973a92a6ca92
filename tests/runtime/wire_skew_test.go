package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A wireTap changes the messages of a service.
type wireTap struct {
	wire.Handler
	request func(*wire.Request)
	reply   func(*wire.Reply)
}

func (w wireTap) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	if w.request != nil {
		w.request(&q)
	}
	reply, err := w.Handler.Call(ctx, q)
	if err == nil && w.reply != nil {
		w.reply(&reply)
	}
	return reply, err
}

// connected returns Hooks with the hooks of a service.
func connected(t *testing.T, c wire.Caller, opts ...wire.RemoteOption) *fixture.Hooks {
	t.Helper()
	remote, err := fixture.Remote(t.Context(), c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	h := new(fixture.Hooks)
	h.Use(remote)
	return h
}

// renoting returns a service that replaces the Note of an item.
func renoting(note fixture.Note) wire.Handler {
	service := new(fixture.Hooks)
	service.RewriteClosed.AddFunc(
		func(_ context.Context, _ *fixture.Run, i fixture.Item) (fixture.RewriteClosedOutcome, error) {
			i.Note = note
			return fixture.ReplaceRewriteClosed(i, ""), nil
		})
	return fixture.Serve(service, nil)
}

// A service is exchanged for an older one that does not know the field Tool, after the program connected.
func TestOlderServiceKeepsUnknownFields(t *testing.T) {
	old := older().(described).Handler.(changedDescription).Handler // which describes itself like the program
	h := connected(t, old)
	item := fixture.Item{ID: 1, Tool: "hammer", Marks: map[string]int{"a": 1}}
	if err := h.RewriteClosed.Fire(t.Context(), nil, &item); err != nil {
		t.Fatal(err)
	}
	want := fixture.Item{ID: 1, Tool: "hammer", Marks: map[string]int{"a": 1}, Note: "changed"}
	if !reflect.DeepEqual(item, want) {
		t.Errorf("the item is %+v", item)
	}
}

// older returns a service that does not know the field Tool.
func older() wire.Handler {
	shape := &wire.Shape{
		Law: "Replace, FailClosed", Payload: "{Item}", Objects: map[string]map[string]string{"Item": {
			"ID": "int", "Note": "string", "Trail": "[]string", "Marks": "map[string]int",
		}},
	}
	return described{changedDescription{wireTap{
		Handler: renoting("changed"),
		request: func(q *wire.Request) {
			q.Payload = []byte(strings.Replace(string(q.Payload), `"Tool":"hammer"`, `"Later":1`, 1))
		},
		reply: func(r *wire.Reply) {
			r.Value = []byte(strings.Replace(string(r.Value), `"Tool":"",`, "", 1))
			r.Digest, r.Shape = "older", shape
		},
	}, func(s *wire.Shape) { *s = *shape }}}
}

// A described service is one of its own type, so that it can be exchanged for another one.
type described struct{ wire.Handler }

// A service is exchanged for a script, which says nothing about its version. An object without all fields that were
// sent is then refused, also if the service that described itself knew them.
func TestAScriptThatReplacesAServiceSaysNothing(t *testing.T) {
	script := wireTap{Handler: renoting("x"), reply: func(r *wire.Reply) {
		*r = wire.Reply{Decision: wire.Replace, Value: []byte(`{"ID":1,"Note":"x"}`)}
	}}
	item := fixture.Item{ID: 1, Tool: "hammer"}
	err := connected(t, script).RewriteClosed.Fire(t.Context(), nil, &item)
	if err == nil || !strings.Contains(err.Error(), "missing; a service without a description") || item.Tool != "hammer" {
		t.Errorf("the error is %v, the item %+v", err, item)
	}
}

// While a program connects anew and replaces its hooks, the service is exchanged for another version and back. Each
// fire has the decision of one of them, and no field is lost.
func TestServicesAreExchangedWhileHooksAreReplaced(t *testing.T) {
	var service atomic.Value
	versions := []wire.Handler{described{renoting("changed")}, older()}
	service.Store(versions[0])
	exchanging := wireFunc{
		func(ctx context.Context) (wire.Description, error) {
			return service.Load().(wire.Handler).Describe(ctx)
		},
		func(ctx context.Context, q wire.Request) (wire.Reply, error) {
			return service.Load().(wire.Handler).Call(ctx, q)
		},
	}
	server := httptest.NewServer(wirehttp.NewHandler(exchanging))
	defer server.Close()
	for name, caller := range map[string]wire.Caller{"direct": exchanging, "http": wirehttp.NewCaller(server.URL)} {
		t.Run(name, func(t *testing.T) {
			connect := func() fixture.Hook {
				remote, err := fixture.Remote(t.Context(), caller)
				if err != nil {
					t.Error(err)
				}
				return remote
			}
			var h fixture.Hooks
			registered := h.Use(connect())
			done := make(chan struct{})
			var fires sync.WaitGroup
			for range 3 {
				fires.Go(func() {
					for {
						item := fixture.Item{ID: 1, Tool: "hammer"}
						err := h.RewriteClosed.Fire(t.Context(), nil, &item)
						if want := (fixture.Item{ID: 1, Tool: "hammer", Note: "changed"}); err != nil || !reflect.DeepEqual(item, want) {
							t.Errorf("%v, %+v", err, item)
							return
						}
						select {
						case <-done:
							return
						default:
						}
					}
				})
			}
			for n := range 100 {
				service.Store(versions[n%2])
				registered = h.Use(connect(), hookkit.Replacing(registered))
			}
			close(done)
			fires.Wait()
		})
	}
}

// A wireFunc is a service made of functions.
type wireFunc struct {
	describe func(context.Context) (wire.Description, error)
	call     func(context.Context, wire.Request) (wire.Reply, error)
}

func (f wireFunc) Describe(ctx context.Context) (wire.Description, error) { return f.describe(ctx) }

func (f wireFunc) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	return f.call(ctx, q)
}

func TestChangedLawsAndTypesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*wire.Shape)
		says   string
	}{
		{"a law", func(s *wire.Shape) { s.Law = "Vote, Stop, FailClosed" },
			`RewriteClosed: the law is "Replace, FailClosed" in this program and "Vote, Stop, FailClosed" in the service`},
		{"a policy", func(s *wire.Shape) { s.Law = "Replace, FailOpen" }, `"Replace, FailOpen" in the service`},
		{"a type", func(s *wire.Shape) { s.Objects["fixture.Item"]["ID"] = "string" },
			"the payload.ID is a int in this program and a string in the service"},
		{"an element", func(s *wire.Shape) { s.Objects["fixture.Item"]["Trail"] = "[]int" },
			"the payload.Trail[] is a string in this program and a int in the service"},
		{"a spelling", func(s *wire.Shape) {
			delete(s.Objects["fixture.Item"], "Note")
			s.Objects["fixture.Item"]["note"] = "string"
		}, `the payload.Note is spelled "note" in the service`},
		{"an exit", func(s *wire.Shape) {
			s.Law, s.Decisions = "Replace, Halt, FailClosed", map[string]string{"Halt": "{fixture.Item}"}
		}, "the service may decide Halt, which this program does not have"},
	} {
		t.Run(c.name, func(t *testing.T) {
			service := changedDescription{renoting("x"), c.change}
			_, err := fixture.Remote(t.Context(), service)
			if err == nil || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), `pass wire.Accept("RewriteClosed")`) {
				t.Errorf("Remote returned %v; want %q", err, c.says)
			}
			if _, err := fixture.Remote(t.Context(), service, wire.Accept("RewriteClosed")); err != nil {
				t.Errorf("with Accept: %v", err)
			}
		})
	}
}

// A changedDescription describes itself in another way.
type changedDescription struct {
	wire.Handler
	change func(*wire.Shape)
}

func (c changedDescription) Describe(ctx context.Context) (wire.Description, error) {
	d, err := c.Handler.Describe(ctx)
	text, _ := json.Marshal(d)
	d = wire.Description{}
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	for _, s := range d.Shapes {
		c.change(s)
	}
	return d, err
}

func TestFieldsThatTheProgramLacksAreIgnoredIfZero(t *testing.T) {
	for value, failure := range map[string]string{
		`{"Code":1,"Later":{"a":[],"b":0,"c":null}}`: "",
		`{"Code":1,"Later":{"a":[0]}}`:               "$.value.Later: unknown field; fixture.Stop has Code, Reason",
	} {
		h := connected(t, rawCaller(`{"decision":"Stop","value":`+value+`}`), wire.Points("LeaveClosed"))
		exit, err := h.LeaveClosed.Fire(t.Context(), nil, fixture.Item{})
		if failure == "" && (err != nil || exit != fixture.Stop{Code: 1}) ||
			failure != "" && (err == nil || !strings.Contains(err.Error(), failure)) {
			t.Errorf("%s: %v, %v", value, exit, err)
		}
	}
}

func TestScriptsPatchOrSendEveryField(t *testing.T) {
	for _, c := range []struct{ reply, want, failure string }{
		{`{"decision":"replace","value":{}}`, "", "missing; a service without a description"},
		{`{"decision":"patch","value":{"Note":"n"},"reason":"r"}`, "n hammer", ""},
		{`{"decision":"patch","value":{"Tool":null}}`, " ", ""},
		{`{"decision":"patch","value":{"Notes":"n"}}`, "", "$.value.Notes: unknown field"},
		{`{"decision":"patch"}`, "", "$.value: missing"},
		{`{"decision":"replace","value":{"ID":0,"Note":"n","Trail":null,"Tool":"saw","Marks":null}}`, "n saw", ""},
	} {
		t.Run(c.reply, func(t *testing.T) {
			h := connected(t, rawCaller(c.reply), wire.Points("RewriteClosed"))
			item := fixture.Item{Tool: "hammer"}
			err := h.RewriteClosed.Fire(t.Context(), nil, &item)
			if got := string(item.Note) + " " + item.Tool; c.failure == "" && (err != nil || got != c.want) ||
				c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure)) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// A text that is not UTF-8 is not damaged by a service that leaves it as it is.
func TestReplacementsKeepTextThatIsNotUTF8(t *testing.T) {
	var damaged []string
	h := connected(t, wireTap{Handler: renoting("n"), request: func(q *wire.Request) { damaged = q.Damaged }})
	item := fixture.Item{Tool: "a\xffb", Trail: []string{"ok", "\xfe", "\xfd"}, Marks: map[string]int{"\xfc": 1}}
	if err := h.RewriteClosed.Fire(t.Context(), nil, &item); err != nil {
		t.Fatal(err)
	}
	want := fixture.Item{
		Tool: "a\xffb", Trail: []string{"ok", "\xfe", "\xfd"}, Marks: map[string]int{"\xfc": 1}, Note: "n",
	}
	if !reflect.DeepEqual(item, want) {
		t.Errorf("the item is %#v", item)
	}
	if got := strings.Join(damaged, " "); !strings.Contains(got, "$.Trail[1] $.Trail[2] $.Tool") {
		t.Errorf("the marks are %q", got)
	}
}

func TestRequestsAreReadStrictly(t *testing.T) {
	service := renoting("n")
	for payload, says := range map[string]string{
		`{"ID":1,"ID":2}`:                  "$.payload.ID: given twice",
		`{"ID":1,"id":2}`:                  "$.payload.id: the field is spelled ID",
		`{"note":"x"}`:                     "$.payload.note: the field is spelled Note",
		"{\"Note\":\"\xff\"}":              "$.payload: not UTF-8",
		`{"Note":"\ud800"}`:                `not Unicode: \ud800 at byte 9 is half a character`,
		`{"Later":{"a":1,"a":2}}`:          "$.payload.Later.a: given twice",
		`{"Note":null}`:                    "null is not a fixture.Note",
		`{"Note":"\ud83d\ude00 \\ud800"} `: "",
	} {
		reply, err := service.Call(t.Context(), wire.Request{Protocol: wire.Protocol,
			Spec: "github.com/hookgen/hookgen/tests/fixture", Point: "RewriteClosed", Payload: []byte(payload)})
		if err != nil || says == "" && reply.Error != "" || !strings.Contains(reply.Error, says) {
			t.Errorf("%s: %+v, %v", payload, reply, err)
		}
	}
}

func TestServicesKnowTrialsAndDeadlines(t *testing.T) {
	var trial bool
	var left time.Duration
	service := new(fixture.Hooks)
	service.LeaveClosed.AddFunc(
		func(ctx context.Context, _ *fixture.Run, _ fixture.Item) (fixture.LeaveClosedOutcome, error) {
			trial = wire.IsTrial(ctx)
			if at, ok := ctx.Deadline(); ok {
				left = time.Until(at)
			}
			return nil, nil
		})
	live := connected(t, wireTap{Handler: fixture.Serve(service, nil), request: func(q *wire.Request) { q.Wait = 1500 }})
	if _, err := live.LeaveClosed.Fire(t.Context(), nil, fixture.Item{}); err != nil || trial ||
		left > 1500*time.Millisecond || left <= 0 {
		t.Errorf("a live fire: trial %v, %v left, %v", trial, left, err)
	}
	var events []hooklog.Event
	recorder := new(fixture.Hooks)
	recorder.ObserveAny(fixture.Record(sinkFunc(func(e hooklog.Event) { events = append(events, e) })))
	if _, err := recorder.LeaveClosed.Fire(t.Context(), nil, fixture.Item{}); err != nil {
		t.Fatal(err)
	}
	for c, err := range hooklog.Replay(t.Context(), func(yield func(hooklog.Event, error) bool) {
		yield(events[0], nil)
	}, live.Points()) {
		if c.Status != hooklog.Same || err != nil || !trial {
			t.Errorf("%v, %v, trial %v", c, err, trial)
		}
	}
}

type sinkFunc func(hooklog.Event)

func (f sinkFunc) WriteEvent(_ context.Context, e hooklog.Event) error { f(e); return nil }

// A flakyCaller fails while it is down.
type flakyCaller struct {
	wire.Caller
	down  bool
	asked int
}

func (f *flakyCaller) Call(context.Context, wire.Request) (wire.Reply, error) {
	f.asked++
	if f.down {
		return wire.Reply{}, errors.New("refused")
	}
	return wire.Reply{Decision: wire.Continue}, nil
}

func TestServicesThatFailAreNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var metrics wire.Metrics
		service := &flakyCaller{down: true}
		h := connected(t, service, wire.Points("LeaveClosed"), wire.Breaker(3, time.Minute), wire.Observe(metrics.Observe))
		fire := func() error {
			_, err := h.LeaveClosed.Fire(t.Context(), nil, fixture.Item{})
			return err
		}
		for range 10 {
			if fire() == nil {
				t.Error("a fire did not fail")
			}
		}
		if err := fire(); service.asked != 3 || !errors.Is(err, wire.ErrPaused) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("asked %d times; the failure is %v", service.asked, err)
		}
		time.Sleep(time.Minute)
		if err := fire(); err == nil || service.asked != 4 { // the probe
			t.Errorf("%v after %d calls", err, service.asked)
		}
		service.down = false
		if err := fire(); !errors.Is(err, wire.ErrPaused) {
			t.Errorf("after a failed probe: %v", err)
		}
		time.Sleep(time.Minute)
		for range 3 {
			if err := fire(); err != nil {
				t.Error(err)
			}
		}
		want := wire.Count{Service: "runtime_test.flakyCaller", Point: "LeaveClosed", Calls: 16, Failed: 13, Paused: 9}
		if got := metrics.Counts(); len(got) != 1 || got[0] != want {
			t.Errorf("the metrics are %+v", got)
		}
	})
}

// Of many fires during the pause, one at a time asks the service, and a cancelled run says nothing about it.
func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &hangingCaller{}
		h := connected(t, service, wire.Points("LeaveClosed"), wire.Breaker(1, time.Second))
		fire := func(ctx context.Context) error {
			_, err := h.LeaveClosed.Fire(ctx, nil, fixture.Item{})
			return err
		}
		cancelled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_ = fire(cancelled)
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := fire(limited); !errors.Is(err, context.DeadlineExceeded) || service.asked != 2 {
			t.Errorf("a cancelled run paused the service: %v after %d calls", err, service.asked)
		}
		time.Sleep(2 * time.Second)
		probing, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { _ = fire(probing) }()
		synctest.Wait()
		time.Sleep(time.Minute)
		if err := fire(t.Context()); !errors.Is(err, wire.ErrPaused) || service.asked != 3 {
			t.Errorf("two probes: %v after %d calls", err, service.asked)
		}
		cancel()
		synctest.Wait()
	})
}

// A steadyCaller replies after a time.
type steadyCaller struct {
	wire.Caller
	takes time.Duration
	asked int
}

func (s *steadyCaller) Call(ctx context.Context, _ wire.Request) (wire.Reply, error) {
	s.asked++
	select {
	case <-ctx.Done():
		return wire.Reply{}, ctx.Err()
	case <-time.After(s.takes):
		return wire.Reply{Decision: wire.Continue}, nil
	}
}

// One caller is more impatient than the service is slow, and does not pause it for the others. A service that hangs is
// paused, although only the deadlines of callers end the calls.
func TestImpatientCallersPauseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &steadyCaller{takes: 50 * time.Millisecond}
		h := connected(t, service, wire.Points("LeaveClosed"), wire.Breaker(2, time.Hour))
		fire := func(limit time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, err := h.LeaveClosed.Fire(ctx, nil, fixture.Item{})
			return err
		}
		if err := fire(time.Second); err != nil {
			t.Error(err)
		}
		for range 10 {
			if err := fire(time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("an impatient caller: %v", err)
			}
		}
		if err := fire(time.Second); err != nil {
			t.Errorf("after impatient callers: %v", err)
		}
		service.takes = time.Hour
		for range 10 {
			_ = fire(time.Second)
		}
		if service.asked != 14 || !errors.Is(fire(time.Second), wire.ErrPaused) {
			t.Errorf("a service that hangs was asked %d times", service.asked)
		}
	})
}

// Requests of one user that cannot be answered do not pause the service for the others.
func TestRequestsThatCannotBeAnsweredPauseNothing(t *testing.T) {
	service := httptest.NewServer(wirehttp.NewHandler(renoting("changed"), wirehttp.MaxBytes(1000)))
	defer service.Close()
	h := connected(t, wirehttp.NewCaller(service.URL), wire.Breaker(1, time.Hour))
	large := fixture.Item{Note: fixture.Note(strings.Repeat("x", 1000))}
	if err := h.RewriteClosed.Fire(t.Context(), nil, &large); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("a large payload: %v", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	item := fixture.Item{}
	if err := h.RewriteClosed.Fire(late, nil, &item); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fire after its deadline: %v", err)
	}
	if err := h.RewriteClosed.Fire(t.Context(), nil, &item); err != nil || item.Note != "changed" {
		t.Errorf("the next fire: %v, %+v", err, item)
	}
}

// A hangingCaller returns when the context ends.
type hangingCaller struct {
	wire.Caller
	asked int
}

func (c *hangingCaller) Call(ctx context.Context, _ wire.Request) (wire.Reply, error) {
	c.asked++
	<-ctx.Done()
	return wire.Reply{}, ctx.Err()
}
