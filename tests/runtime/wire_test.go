package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/remote"
)

// wirePoints are the points of the fixture that have messages.
func wirePoints(h *fixture.Hooks) []hookkit.AnyPoint {
	var all []hookkit.AnyPoint
	for _, p := range h.Points() {
		if p.Name != "OnError" && !strings.Contains(p.Results, "Around") {
			all = append(all, p)
		}
	}
	return all
}

// TestWire: hooks in another process have the effect of the same hooks in this one, for every payload and outcome. The
// tests of package remote check the same for drawn specs.
func TestWire(t *testing.T) {
	remote.Of(fixture.Serve, fixture.Remote).Check(t, "Wrap", "WrapBack", "KeyedWrap", "OnImported", "OnError")
}

// rawCaller replies with a text.
type rawCaller string

func (c rawCaller) Describe(context.Context) (wire.Description, error) {
	return wire.Description{}, errors.New("not asked")
}

func (c rawCaller) Call(ctx context.Context, _ wire.Request) (wire.Reply, error) {
	var r wire.Reply
	return r, wire.UnmarshalReply(ctx, []byte(c), &r)
}

// A reply that the point does not allow, or with anything unknown in it, is a failure that names the place.
func TestWrongRepliesAreFailures(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	for _, c := range []struct{ name, reply, failure string }{
		{
			"an unknown decision",
			`{"decision":"Retry"}`,
			`$.decision: "Retry" is not legal; use continue, replace, Stop, Skip`,
		},
		{"another case", `{"decision":"stop"}`, `$.decision: "stop" is not legal`},
		{"no decision", `{}`, `$.decision: "" is not legal`},
		{"an unknown member", `{"decided":"Stop"}`, `$.decided: unknown field`},
		{
			"an unknown field of an exit",
			`{"decision":"Stop","value":{"Cod":1}}`,
			`$.value.Cod: unknown field; fixture.Stop has Code, Reason`,
		},
		{"a field twice", `{"decision":"Stop","value":{"Code":1,"code":2}}`, `$.value.code: given twice`},
		{"a member twice", `{"decision":"continue","decision":"Stop"}`, `$.decision: given twice`},
		{"a wrong type", `{"decision":"Stop","value":{"Code":"1"}}`, `$.value.Code: a JSON string is not a int`},
		{"null in a field", `{"decision":"Stop","value":{"Code":null}}`, `$.value.Code: null is not a int`},
		{"no value to replace", `{"decision":"replace"}`, `$.value: missing`},
		{"null to replace", `{"decision":"replace","value":null}`, `$.value: null is not a fixture.Item`},
		{"a reason outside an exit", `{"decision":"Stop","reason":"x"}`, `$.reason: belongs to replace and edit`},
		{"a value with continue", `{"decision":"continue","value":1}`, `$.decision: continue has neither`},
		{
			"a contribution where there is none",
			`{"decision":"continue","collected":["a"]}`,
			`$.collected: hooks at RewriteLeaveClosed contribute nothing`,
		},
		{
			"two values",
			`{"decision":"continue"} {"decision":"Stop"}`,
			`$: not JSON: invalid character '{' after top-level value`,
		},
		{"no JSON", `ok`, `$: not JSON`},
		{"another encoding", "{\"decision\":\"Stop\",\"value\":{\"Reason\":\"caf\xe9\"}}", `$: not UTF-8`},
		{"a list", `[]`, `$: a JSON array is not a wire.Reply`},
		{"an end in the middle", `{"decision":"cont`, `$: not JSON: unexpected end of JSON input`},
		{
			"deep nesting",
			`{"decision":"continue","value":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
			`levels deep`,
		},
		{"a key with a terminal code", `{"\u001b[2J":1}`, `$."\x1b[2J": unknown field`},
		{"a long key", `{"` + long + `":1}`, `$."xxx`},
		{"a long decision", `{"decision":"` + long + `"}`, `x" is not legal`},
		{
			"a long number",
			`{"decision":"Stop","value":{"Code":` + strings.Repeat("9", 1_000_000) + `}}`,
			`$.value.Code: a JSON number`,
		},
		{"a long path", `{"value":` + strings.Repeat(`{"`+long[:99]+`":`, 900) + `{"a":1,"a":1}` + strings.Repeat("}", 901),
			`$.value.xxx`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h fixture.Hooks
			connected, err := fixture.Remote(t.Context(), rawCaller(c.reply), wire.Points("RewriteLeaveClosed"))
			if err != nil {
				t.Fatal(err)
			}
			h.Use(connected)
			exit, err := h.RewriteLeaveClosed.Fire(t.Context(), fixture.NewRun(nil), &fixture.Item{})
			if err == nil || !strings.Contains(err.Error(), c.failure) {
				t.Errorf("Fire returned %v, %.2000v; the failure should contain %q", exit, err, c.failure)
			}
			if text := fmt.Sprint(err); len(text) > 1000 || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("the failure has %d bytes: %.200q", len(text), text)
			}
		})
	}
}

// A slowCaller fails after some time.
type slowCaller struct {
	wire.Caller
	after time.Duration
}

func (c slowCaller) Call(context.Context, wire.Request) (wire.Reply, error) {
	time.Sleep(c.after)
	return wire.Reply{}, io.ErrUnexpectedEOF
}

// The failure of a remote hook says which process failed, how long it took, and why.
func TestFailuresSayHowLongTheyTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		connected, err := fixture.Remote(t.Context(), slowCaller{after: 3 * time.Second}, wire.Points("RewriteLeaveClosed"))
		if err != nil {
			t.Fatal(err)
		}
		h.Use(connected)
		_, err = h.RewriteLeaveClosed.Fire(t.Context(), fixture.NewRun(nil), &fixture.Item{})
		want := "runtime_test.slowCaller failed at RewriteLeaveClosed after 3s: unexpected EOF"
		if c, ok := errors.AsType[*wire.CallError](err); !ok || c.Elapsed != 3*time.Second || c.Error() != want {
			t.Errorf("the failure is %v", err)
		}
	})
}

// An exit needs no value, and its fields may be written in another case.
func TestExitsNeedNoValue(t *testing.T) {
	for reply, want := range map[string]fixture.Stop{
		`{"decision":"Stop"}`: {},
		`{"decision":"Stop","value":{"code":7,"REASON":"r"}}`: {Code: 7, Reason: "r"},
	} {
		t.Run(reply, func(t *testing.T) {
			var h fixture.Hooks
			connected, err := fixture.Remote(t.Context(), rawCaller(reply), wire.Points("RewriteLeaveClosed"))
			if err != nil {
				t.Fatal(err)
			}
			h.Use(connected)
			exit, by, err := h.RewriteLeaveClosed.FireBy(t.Context(), fixture.NewRun(nil), &fixture.Item{})
			if exit != want || err != nil || by.Hook != "remote runtime_test.rawCaller" {
				t.Errorf("%#v, %+v, %v; want %#v by the remote", exit, by, err, want)
			}
		})
	}
}

// describer describes a service, and never answers.
type describer wire.Description

func (d describer) Describe(context.Context) (wire.Description, error) {
	return wire.Description(d), nil
}

func (d describer) Call(context.Context, wire.Request) (wire.Reply, error) {
	return wire.Reply{}, errors.New("gone")
}

func TestRemoteRefusesServicesThatDoNotFit(t *testing.T) {
	const spec = "github.com/hookgen/hookgen/tests/fixture"
	for _, c := range []struct {
		name    string
		service wire.Description
		opts    []wire.RemoteOption
		err     string
	}{
		{
			"another protocol",
			wire.Description{Protocol: 2, Spec: spec, Points: []string{"Watch"}},
			nil,
			"version 2 of the protocol",
		},
		{
			"another spec",
			wire.Description{Protocol: 1, Spec: "example.com/mail", Points: []string{"Watch"}},
			nil,
			`for the spec "example.com/mail"`,
		},
		{"no points", wire.Description{Protocol: 1, Spec: spec}, nil, "has no hook at any point"},
		{
			"an unknown point",
			wire.Description{Protocol: 1, Spec: spec, Points: []string{"OnNew"}},
			nil,
			`serves the point "OnNew"`,
		},
		{"an around point", wire.Description{}, []wire.RemoteOption{wire.Points("Wrap")},
			`wire: wire.Points names "Wrap", which has no messages; points that wrap an act`},
		{"a local point", wire.Description{}, []wire.RemoteOption{wire.Points("Watch", "OnError")},
			`wire: wire.Points names "OnError", which has no messages`},
		{"a misspelled point", wire.Description{}, []wire.RemoteOption{wire.Points("Wacth")},
			`wire: wire.Points names "Wacth"; did you mean "Watch"?`},
		{"no point at all", wire.Description{}, []wire.RemoteOption{wire.Points("Unheard")},
			`wire: wire.Points names "Unheard", which is not a point of ` + spec + `; it has `},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := fixture.Remote(t.Context(), describer(c.service), c.opts...)
			if err == nil || h != nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("Remote returned %v, %v; want nil and an error with %q", h, err, c.err)
			}
		})
	}
}

// An otherVersion changes the version of the protocol in messages. To each end, the other one speaks the next version.
type otherVersion struct{ wire.Handler }

func (o otherVersion) Describe(ctx context.Context) (wire.Description, error) {
	d, err := o.Handler.Describe(ctx)
	d.Protocol++
	return d, err
}

func (o otherVersion) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	q.Protocol++
	return o.Handler.Call(ctx, q)
}

// A program connects to an endpoint that speaks another version of the protocol. It is refused at once if the program
// asks which points it serves. Otherwise each fire fails, and the policy of the point decides. The error names both
// versions and the remedy.
func TestEndpointsOfAnotherVersionFail(t *testing.T) {
	var service fixture.Hooks
	service.LeaveClosed.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
		return fixture.Stop{}, nil
	})
	service.LeaveOpen.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveOpenOutcome, error) {
		return fixture.Stop{}, nil
	})
	server := httptest.NewServer(wirehttp.NewHandler(otherVersion{fixture.Serve(&service, nil)}))
	defer server.Close()
	explained := func(t *testing.T, err error) {
		t.Helper()
		for _, part := range []string{
			server.URL, "it speaks version 2 of the protocol, and this program version 1",
			"use the same version of hookgen at both ends",
		} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("the error is %v; it should contain %q", err, part)
			}
		}
	}
	_, err := fixture.Remote(t.Context(), wirehttp.NewCaller(server.URL))
	explained(t, err)

	var host fixture.Hooks
	var reported error
	host.HandleFailures(func(_ context.Context, f *hookkit.Failure) { reported = f })
	connected, err := fixture.Remote(t.Context(), wirehttp.NewCaller(server.URL), wire.Points("LeaveClosed", "LeaveOpen"))
	if err != nil {
		t.Fatal(err)
	}
	host.Use(connected)
	t.Run("FailClosed", func(t *testing.T) {
		exit, err := host.LeaveClosed.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{})
		if exit != nil {
			t.Errorf("Fire returned %v", exit)
		}
		explained(t, err)
	})
	t.Run("FailOpen", func(t *testing.T) {
		reported = nil
		exit, err := host.LeaveOpen.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{})
		if exit != nil || err != nil {
			t.Errorf("Fire returned %v, %v; want to continue", exit, err)
		}
		explained(t, reported)
	})
}

// The hooks of a service keep state per run of the program, and programs do not share runs.
func TestServedHooksKeepStatePerRun(t *testing.T) {
	var service, host fixture.Hooks
	var count hookkit.PerRun[int]
	service.Watch.AddFunc(func(_ context.Context, run *fixture.Run, _ fixture.Item) error {
		count.Do(run, func(n *int) { *n++ })
		return nil
	})
	made := map[string]int{}
	var last *fixture.Run
	handler := fixture.Serve(&service, func(_ context.Context, info wire.RunInfo) (*fixture.Run, error) {
		made[info.ID]++
		last = hookkit.ResumeRun[*fixture.World](nil, info.ID, info.Parent, info.Root)
		return last, nil
	})
	connected, err := fixture.Remote(t.Context(), remote.Caller{To: handler})
	if err != nil {
		t.Fatal(err)
	}
	host.Use(connected)
	one := fixture.NewRun(nil)
	for range 3 {
		host.Watch.Fire(t.Context(), one, fixture.Item{})
	}
	if got := count.Load(last); got != 3 || last.ID() != one.ID() || made[one.ID()] != 1 {
		t.Errorf("the hook counted %d, in the run %q that was made %d times; want 3 in %q", got, last.ID(),
			made[one.ID()], one.ID())
	}
	two := one.Child(nil)
	host.Watch.Fire(t.Context(), two, fixture.Item{})
	if got := count.Load(last); got != 1 || last.Parent() != one.ID() || last.Root() != one.ID() {
		t.Errorf("in another run, the hook counted %d; its parent is %q, its root %q", got, last.Parent(), last.Root())
	}
}

// A failure in a service becomes the failure of the remote hook.
func TestServicesReplyWithTheirFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		hook fixture.LeaveClosedFunc
		run  func(context.Context, wire.RunInfo) (*fixture.Run, error)
		want string
	}{
		{
			"a panic of a hook",
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) { panic("oh") },
			nil,
			"oh",
		},
		{"an error of a hook", func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
			return nil, errors.New("no disk")
		}, nil, "no disk"},
		{
			"an error of the run function",
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
				return nil, nil
			},
			func(context.Context, wire.RunInfo) (*fixture.Run, error) { return nil, errors.New("no tenant") },
			"no tenant",
		},
		{
			"a panic of the run function",
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
				return nil, nil
			},
			func(context.Context, wire.RunInfo) (*fixture.Run, error) { panic("no run") },
			"no run",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var service, host fixture.Hooks
			service.LeaveClosed.AddFunc(c.hook)
			connected, err := fixture.Remote(t.Context(), remote.Caller{To: fixture.Serve(&service, c.run)})
			if err != nil {
				t.Fatal(err)
			}
			host.Use(connected)
			for range 2 { // the second time as well
				exit, err := host.LeaveClosed.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{})
				if err == nil || exit != nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Fire returned %v, %v; want an error with %q", exit, err, c.want)
				}
			}
		})
	}
}

// Requests that no generated code sends get a reply with an error.
func TestForeignRequestsAreRefused(t *testing.T) {
	var service fixture.Hooks
	handler := fixture.Serve(&service, nil)
	const spec = "github.com/hookgen/hookgen/tests/fixture"
	for _, c := range []struct {
		request wire.Request
		want    string
	}{
		{wire.Request{}, "version 0 of the protocol"},
		{wire.Request{Protocol: 1, Spec: "x"}, `for the spec "x"`},
		{wire.Request{Protocol: 1, Spec: spec, Point: "Wrap"}, `no wire point "Wrap"`},
		{wire.Request{Protocol: 1, Spec: spec, Point: "Watch"}, "the payload of Watch cannot be read"},
		{
			wire.Request{Protocol: 1, Spec: spec, Point: "Watch", Payload: []byte(`{"Tool":1}`)},
			"the payload of Watch cannot be read",
		},
	} {
		t.Run(fmt.Sprint(c.want), func(t *testing.T) {
			reply, err := handler.Call(t.Context(), c.request)
			if err != nil || reply.Decision != "" || !strings.Contains(reply.Error, c.want) {
				t.Errorf("the reply is %+v, %v; want an error with %q", reply, err, c.want)
			}
		})
	}
}

// A service of yesterday ignores the fields that a program of today sends.
func TestServicesIgnoreUnknownPayloadFields(t *testing.T) {
	var service fixture.Hooks
	var got fixture.Item
	service.Watch.AddFunc(func(_ context.Context, _ *fixture.Run, item fixture.Item) error { got = item; return nil })
	reply, err := fixture.Serve(&service, nil).Call(t.Context(), wire.Request{
		Protocol: 1, Spec: "github.com/hookgen/hookgen/tests/fixture", Point: "Watch",
		Payload: []byte(`{"Tool":"n","New":{"a":[1]}}`),
	})
	if err != nil || reply.Error != "" || reply.Decision != wire.Continue || got.Tool != "n" {
		t.Errorf("the reply is %+v, %v, and the hook got %+v", reply, err, got)
	}
}
