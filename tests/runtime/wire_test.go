package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
)

// bytesCaller is a transport without a network: every message is written and read as JSON.
type bytesCaller struct{ to wire.Handler }

func (c bytesCaller) Describe(ctx context.Context) (wire.Description, error) {
	return c.to.Describe(ctx)
}

func (c bytesCaller) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return wire.Reply{}, err
	}
	var request wire.Request
	if err := json.Unmarshal(text, &request); err != nil {
		return wire.Reply{}, err
	}
	reply, err := c.to.Call(ctx, request)
	if err != nil {
		return wire.Reply{}, err
	}
	if text, err = json.Marshal(reply); err != nil {
		return wire.Reply{}, err
	}
	var read wire.Reply
	return read, wire.Unmarshal(text, &read)
}

// wirePoints are the points of the fixture that have messages.
func wirePoints(h *fixture.Hooks) []hookkit.PointInfo {
	var all []hookkit.PointInfo
	for _, p := range h.Points() {
		if p.Name != "OnError" && !strings.Contains(p.Results, "Around") {
			all = append(all, p)
		}
	}
	return all
}

// TestWire: hooks in another process have the effect of the same hooks in this one, for every payload and outcome.
func TestWire(t *testing.T) {
	for i, point := range wirePoints(new(fixture.Hooks)) {
		t.Run(point.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var local, service, host fixture.Hooks
				for range rapid.IntRange(1, 4).Draw(t, "hooks") {
					act := drawAct(t, point)
					for _, h := range []*fixture.Hooks{&local, &service} {
						wirePoints(h)[i].AddAny(act)
					}
				}
				for _, h := range []*fixture.Hooks{&local, &service, &host} {
					h.HandleFailures(func(context.Context, *hookkit.Failure) {})
				}
				remote, err := fixture.Remote(t.Context(), bytesCaller{fixture.Serve(&service, nil)})
				if err != nil {
					t.Fatal(err)
				}
				host.Use(remote)

				payload := drawValue(t, reflect.TypeOf(point.New()).Elem(), "payload").Interface()
				want, _ := wirePoints(&local)[i].Fire(t.Context(), fixture.NewRun(nil), payload)
				got, _ := wirePoints(&host)[i].Fire(t.Context(), fixture.NewRun(nil), payload)

				if !reflect.DeepEqual(got.Exit, want.Exit) {
					t.Errorf("the outcome is %#v, locally %#v", got.Exit, want.Exit)
				}
				if want.Exit == nil && want.Err == nil && !reflect.DeepEqual(got.Final, want.Final) {
					t.Errorf("the payload is left as %#v, locally as %#v", got.Final, want.Final)
				}
				if want.Err == nil && !reflect.DeepEqual(got.Collected, want.Collected) {
					t.Errorf("%#v is collected, locally %#v", got.Collected, want.Collected)
				}
				if (got.Err == nil) != (want.Err == nil) {
					t.Errorf("the error is %v, locally %v", got.Err, want.Err)
				}
				if len(want.Failures) == 0 && want.Err == nil && got.Who() != (hookkit.By{}) != (want.Who() != (hookkit.By{})) {
					t.Errorf("%+v decided, locally %+v", got.Who(), want.Who())
				}
				if got.Decision != "" && got.Decision != "Error" && (got.Decision != want.Decision || got.Reason != want.Reason) {
					if got.Decision != "Replace" || want.Decision != "Edit" { // an edit of what another hook replaced
						t.Errorf("%s was decided for %q, locally %s for %q", got.Decision, got.Reason, want.Decision, want.Reason)
					}
				}
			})
		})
	}
}

// drawAct draws a hook that always does the same.
func drawAct(t *rapid.T, p hookkit.PointInfo) hookkit.AnyHook {
	var reply hookkit.AnyReply
	var err error
	if p.Contribution != nil {
		if n := rapid.IntRange(0, 3).Draw(t, "contributions"); n > 0 {
			values := reflect.MakeSlice(reflect.SliceOf(p.Contribution), 0, n)
			for range n {
				values = reflect.Append(values, drawValue(t, p.Contribution, "contribution"))
			}
			reply.Collected = values.Interface()
		}
	}
	switch n := rapid.IntRange(-1, len(p.Outcomes)).Draw(t, "act"); {
	case n == -1:
		return func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
			return hookkit.AnyReply{}, errors.New("failed")
		}
	case n < len(p.Outcomes):
		o := p.Outcomes[n]
		reply.Outcome, err = o.New(drawValue(t, o.Type, "value").Interface(), rapid.String().Draw(t, "reason"))
	}
	return func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { return reply, err }
}

// drawValue draws a value that encoding/json writes and reads unchanged.
func drawValue(t *rapid.T, typ reflect.Type, label string) reflect.Value {
	v := reflect.New(typ).Elem()
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			if typ.Field(i).IsExported() {
				v.Field(i).Set(drawValue(t, typ.Field(i).Type, typ.Field(i).Name))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(drawValue(t, typ.Elem(), label))
	case reflect.Slice:
		for range rapid.IntRange(0, 3).Draw(t, label) {
			v.Set(reflect.Append(v, drawValue(t, typ.Elem(), label)))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(typ))
		for range rapid.IntRange(0, 3).Draw(t, label) {
			v.SetMapIndex(drawValue(t, typ.Key(), label), drawValue(t, typ.Elem(), label))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, label))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, label))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, label))
	case reflect.Interface:
		v.Set(reflect.ValueOf(rapid.String().Draw(t, label)))
	default:
		t.Fatalf("no drawing of a %v", typ)
	}
	return v
}

// rawCaller replies with a text.
type rawCaller string

func (c rawCaller) Describe(context.Context) (wire.Description, error) {
	return wire.Description{}, errors.New("not asked")
}

func (c rawCaller) Call(context.Context, wire.Request) (wire.Reply, error) {
	var r wire.Reply
	return r, wire.Unmarshal([]byte(c), &r)
}

// A reply that the point does not allow, or with anything unknown in it, is a failure that names the place.
func TestWrongRepliesAreFailures(t *testing.T) {
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
		{"a list", `[]`, `$: a JSON array is not a wire.Reply`},
		{"an end in the middle", `{"decision":"cont`, `$: not JSON: unexpected end of JSON input`},
		{
			"deep nesting",
			`{"decision":"continue","value":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
			`levels deep`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h fixture.Hooks
			remote, err := fixture.Remote(t.Context(), rawCaller(c.reply), wire.Points("RewriteLeaveClosed"))
			if err != nil {
				t.Fatal(err)
			}
			h.Use(remote)
			exit, err := h.RewriteLeaveClosed.Fire(t.Context(), fixture.NewRun(nil), &fixture.Item{})
			if err == nil || !strings.Contains(err.Error(), c.failure) {
				t.Errorf("Fire returned %v, %v; the failure should contain %q", exit, err, c.failure)
			}
		})
	}
}

// An exit needs no value, and its fields may be written in another case.
func TestExitsNeedNoValue(t *testing.T) {
	for reply, want := range map[string]fixture.Stop{
		`{"decision":"Stop"}`: {},
		`{"decision":"Stop","value":{"code":7,"REASON":"r"}}`: {Code: 7, Reason: "r"},
	} {
		t.Run(reply, func(t *testing.T) {
			var h fixture.Hooks
			remote, err := fixture.Remote(t.Context(), rawCaller(reply), wire.Points("RewriteLeaveClosed"))
			if err != nil {
				t.Fatal(err)
			}
			h.Use(remote)
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
	remote, err := fixture.Remote(t.Context(), bytesCaller{handler})
	if err != nil {
		t.Fatal(err)
	}
	host.Use(remote)
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
			remote, err := fixture.Remote(t.Context(), bytesCaller{fixture.Serve(&service, c.run)})
			if err != nil {
				t.Fatal(err)
			}
			host.Use(remote)
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
