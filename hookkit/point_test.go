package hookkit_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

// pointNamed returns a point of h.
func pointNamed(h *hooks, name string) hookkit.AnyPoint {
	for _, p := range h.Points() {
		if p.Name == name {
			return p
		}
	}
	panic("no point " + name)
}

func TestPointsDescribeTheSpec(t *testing.T) {
	want := []string{
		"First(int) Stop, FailOpen: Stop",
		"Second(int) Stop, FailClosed: Stop",
		"Last(int) Reverse, Stop, FailOpen: Stop",
		"Shape(Letter) Replace, Edit[Text], FailOpen: Replace Edit",
		"Poll(int) Vote, Deny, Allow, FailClosed: Deny Allow",
		"PollOpen(int) Vote, Deny, Allow, FailOpen: Deny Allow",
		"Gather(int) Collect[string]: ",
		"GatherClosed(int) Collect[string], FailClosed: ",
		"Review(Letter) Replace, Stop, Coded, Numbered, Collect[string], FailOpen: Replace Stop Coded Numbered",
		"Verify(int) Check: ",
		"Wrap(int) Around[string]: ",
		"Watch(int) : ",
	}
	for i, p := range new(hooks).Points() {
		var outcomes []string
		for _, o := range p.Outcomes {
			outcomes = append(outcomes, o.Name)
		}
		if p.Spec != "github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints" {
			t.Errorf("the spec of %s is %q", p.Name, p.Spec)
		}
		if got := fmt.Sprintf("%s(%s) %s: %s", p.Name, p.Payload, p.Results, strings.Join(outcomes, " ")); got != want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
}

func TestNewMakesPayloadsAndRuns(t *testing.T) {
	for _, p := range new(hooks).Points() {
		t.Run(p.Name, func(t *testing.T) {
			v := reflect.ValueOf(p.New())
			if v.Kind() != reflect.Pointer || !v.Elem().IsZero() || v.Elem().Type().Name() != p.Payload {
				t.Errorf("New returned a %T", p.New())
			}
			r, ok := p.NewRun().(*run)
			if !ok || r.ID() == "" || r.Env != "" || r.ID() == p.NewRun().ID() {
				t.Errorf("NewRun returned %v", r)
			}
			r, ok = p.ResumeRun("a", "b", "c").(*run)
			if !ok || r.ID() != "a" || r.Parent() != "b" || r.Root() != "c" || r.Env != "" {
				t.Errorf("ResumeRun returned %v", r)
			}
		})
	}
}

func TestOutcomesMakeDecisions(t *testing.T) {
	letter := testpoints.Letter{To: "a"}
	for _, c := range []struct {
		point, outcome string
		value          any
		want           any
		wrong          string
	}{
		{
			"First",
			"Stop",
			stop{Reason: "x"},
			stop{Reason: "x"},
			"hookkit: the value for Stop is a float64; pass a testpoints.Stop",
		},
		{
			"Shape",
			"Replace",
			letter,
			testpoints.ReplaceShape(letter, "why"),
			"hookkit: the value for Replace is a float64; pass a testpoints.Letter",
		},
		{
			"Shape",
			"Edit",
			testpoints.Text("b"),
			testpoints.EditShape("b", "why"),
			"hookkit: the value for Edit is a float64; pass a testpoints.Text",
		},
		{
			"Poll",
			"Allow",
			testpoints.Allow{},
			testpoints.Allow{},
			"hookkit: the value for Allow is a float64; pass a testpoints.Allow",
		},
		{
			"Review",
			"Replace",
			letter,
			testpoints.ReplaceReview(letter, "why"),
			"hookkit: the value for Replace is a float64; pass a testpoints.Letter",
		},
	} {
		t.Run(c.point+" "+c.outcome, func(t *testing.T) {
			for _, o := range pointNamed(new(hooks), c.point).Outcomes {
				if o.Name != c.outcome {
					continue
				}
				if got, err := o.New(c.value, "why"); got != c.want || err != nil || o.Type != reflect.TypeOf(c.value) {
					t.Errorf("New returned %#v, %v, want %#v", got, err, c.want)
				}
				if got, err := o.New(1.5, ""); got != nil || err == nil || err.Error() != c.wrong {
					t.Errorf("New of a wrong value returned %v, %v, want %s", got, err, c.wrong)
				}
				if got, err := o.New(nil, ""); got != nil || err == nil {
					t.Errorf("New of nil returned %v, %v", got, err)
				}
			}
		})
	}
}

func TestDynamicFireMatchesTheObservers(t *testing.T) {
	letter, edited := testpoints.Letter{To: "a"}, testpoints.Letter{To: "a", Text: "b"}
	edit := hookkit.AnyReply{Outcome: testpoints.EditShape("b", "why")}
	for name, c := range map[string]struct {
		point   string
		reply   hookkit.AnyReply
		payload any
		want    hookkit.AnyFired
		by      string
	}{
		"First": {
			"First",
			hookkit.AnyReply{Outcome: stop{Reason: "x"}},
			5,
			hookkit.AnyFired{Payload: 5, Final: 5, Exit: stop{Reason: "x"}},
			"Stop",
		},
		"Last":           {"Last", hookkit.AnyReply{}, 5, hookkit.AnyFired{Payload: 5, Final: 5}, ""},
		"pointer to int": {"First", hookkit.AnyReply{}, new(int), hookkit.AnyFired{Payload: 0, Final: 0}, ""},
		"Shape of value": {"Shape", edit, letter, hookkit.AnyFired{Payload: letter, Final: edited}, "Edit"},
		"Shape": {
			"Shape",
			edit,
			&testpoints.Letter{To: "a"},
			hookkit.AnyFired{Payload: letter, Final: edited},
			"Edit",
		},
		"Gather": {
			"Gather",
			hookkit.AnyReply{Collected: []string{"x"}},
			5,
			hookkit.AnyFired{Payload: 5, Final: 5, Collected: []string{"x"}},
			"",
		},
		"Gather, nothing": {"Gather", hookkit.AnyReply{}, 5, hookkit.AnyFired{Payload: 5, Final: 5}, ""},
		"GatherClosed": {
			"GatherClosed",
			hookkit.AnyReply{Collected: []string{"x"}},
			5,
			hookkit.AnyFired{Payload: 5, Final: 5, Collected: []string{"x"}},
			"",
		},
		"Review": {"Review", hookkit.AnyReply{Outcome: stop{}, Collected: []string{"x"}}, letter,
			hookkit.AnyFired{Payload: letter, Final: letter, Exit: stop{}, Collected: []string{"x"}}, "Stop"},
		"Verify": {"Verify", hookkit.AnyReply{}, 5, hookkit.AnyFired{Payload: 5, Final: 5}, ""},
		"Wrap":   {"Wrap", hookkit.AnyReply{Result: "x"}, 5, hookkit.AnyFired{Payload: 5, Final: 5, Result: "x"}, "Answered"},
		"Watch":  {"Watch", hookkit.AnyReply{}, 5, hookkit.AnyFired{Payload: 5, Final: 5}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			p := pointNamed(&h, c.point)
			p.AddAny(replies(c.reply, nil), hookkit.Named("h"))
			var seen hookkit.AnyFired
			h.ObserveAny(watcher(func(_ ctx, _ *run, f hookkit.AnyFired) { seen = f }))
			got, err := p.Fire(t.Context(), p.NewRun(), c.payload)
			if err != nil || got.Decision != c.by || (got.Hook == "h") != (c.by != "") || got.Start.IsZero() {
				t.Errorf("Fire returned %+v, %v", got, err)
			}
			if !reflect.DeepEqual(got, seen) {
				t.Errorf("Fire returned %+v, the observer received %+v", got, seen)
			}
			if l, ok := c.payload.(*testpoints.Letter); ok && *l != edited {
				t.Errorf("the payload is %v, want %v", *l, edited)
			}
			got.Verdict, c.want.Point = hookkit.Verdict{}, c.point
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDynamicFireReturnsTheVotes(t *testing.T) {
	var h hooks
	p := pointNamed(&h, "Poll")
	one := p.AddAny(replies(hookkit.AnyReply{Outcome: testpoints.Allow{Reason: "1"}}, nil), hookkit.Named("one"))
	p.AddAny(passes)
	two := p.AddAny(replies(hookkit.AnyReply{Outcome: testpoints.Deny{Reason: "2"}}, nil), hookkit.Named("two"))
	got, err := p.Fire(t.Context(), nil, 0)
	want := []hookkit.Ballot{
		{hookkit.By{Hook: "one", Site: one.Site(), Decision: "Allow", Reason: "1"}, testpoints.Allow{Reason: "1"}},
		{hookkit.By{Hook: "two", Site: two.Site(), Decision: "Deny", Reason: "2"}, testpoints.Deny{Reason: "2"}},
	}
	if err != nil || got.Exit != (testpoints.Deny{Reason: "2"}) || got.Hook != "two" ||
		!reflect.DeepEqual(got.Ballots, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDynamicFireOfAnActYieldsZero(t *testing.T) {
	var h hooks
	p := pointNamed(&h, "Wrap")
	var inner hookkit.AnyReply
	p.AddAny(func(c ctx, _ hookkit.AnyRun, call hookkit.AnyCall) (reply hookkit.AnyReply, err error) {
		inner, err = call.Next(c, call.Payload)
		return inner, err
	})
	got, err := p.Fire(t.Context(), nil, 0)
	if err != nil || got.Result != "" || got.Hook != "" || inner.Result == nil {
		t.Errorf("got %+v, %v; next returned %+v", got, err, inner)
	}
}

func TestDynamicFireReturnsTheError(t *testing.T) {
	for _, p := range new(hooks).Points() {
		t.Run(p.Name, func(t *testing.T) {
			var h hooks
			handled(&h)
			p := pointNamed(&h, p.Name)
			p.AddAny(replies(hookkit.AnyReply{}, errBad))
			got, err := p.Fire(t.Context(), nil, p.New())
			closed := p.Hooks()[0].FailClosed
			if errors.Is(err, errBad) != closed || got.Err != err || closed != (got.Decision == "Error") {
				t.Errorf("Fire returned %+v, %v", got, err)
			}
		})
	}
}

func TestDynamicFireRefusesWrongTypes(t *testing.T) {
	for _, p := range new(hooks).Points() {
		want := "int"
		if p.Payload == "Letter" {
			want = "testpoints.Letter"
		}
		var noRun *run
		for name, c := range map[string]struct {
			run     hookkit.AnyRun
			payload any
			want    string
		}{
			"payload":    {nil, 1.5, "hookkit: the payload is a float64; pass a " + want + " or a pointer to one"},
			"no payload": {nil, nil, "hookkit: the payload is a <nil>; pass a " + want + " or a pointer to one"},
			"pointer payload": {
				nil,
				new(float64),
				"hookkit: the payload is a *float64; pass a " + want + " or a pointer to one",
			},
			"run":     {hookkit.NewRun(1), p.New(), "hookkit: the run is a *hookkit.Run[int]; pass a *hookkit.Run[string]"},
			"nil run": {noRun, p.New(), ""},
		} {
			t.Run(p.Name+" "+name, func(t *testing.T) {
				ran := false
				var h hooks
				p := pointNamed(&h, p.Name)
				p.AddAny(func(c ctx, r hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
					ran = true
					return passes(c, r, call)
				})
				got, err := p.Fire(t.Context(), c.run, c.payload)
				if c.want == "" {
					if err != nil || !ran {
						t.Errorf("Fire returned %v; the hook ran: %v", err, ran)
					}
				} else if err == nil || err.Error() != c.want || ran || got.Point != "" {
					t.Errorf("Fire returned %+v, %v, want %s", got, err, c.want)
				}
			})
		}
	}
}

func TestAddAnyPassesTheCall(t *testing.T) {
	for _, p := range new(hooks).Points() {
		t.Run(p.Name, func(t *testing.T) {
			var h hooks
			p := pointNamed(&h, p.Name)
			r := p.NewRun()
			calls := 0
			p.AddAny(func(c ctx, got hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
				calls++
				if got != r || call.Point != p.Name || reflect.TypeOf(call.Payload) != reflect.TypeOf(p.New()).Elem() ||
					(call.Next != nil) != (p.Name == "Wrap") {
					t.Errorf("called with %v, %+v", got, call)
				}
				return passes(c, got, call)
			})
			if _, err := p.Fire(t.Context(), r, p.New()); err != nil || calls != 1 {
				t.Errorf("Fire returned %v; the hook ran %d times", err, calls)
			}
		})
	}
}

// A hook for any point can return any type. A wrong one is a failure under the policy of the point.
func TestWrongOutcomesOfAddAnyAreFailures(t *testing.T) {
	for _, p := range new(hooks).Points() {
		replied := map[string]hookkit.AnyReply{
			"a number":                          {Outcome: 42},
			"a pointer":                         {Outcome: &stop{}},
			"an outcome of another point":       {Outcome: testpoints.ReplaceShape(testpoints.Letter{}, "")},
			"contributions of another type":     {Collected: []int{1}},
			"contributions that are not a list": {Collected: 42},
			"a result of another type":          {Result: 42},
		}
		if p.Name == "Shape" {
			replied["an outcome of another point"] = hookkit.AnyReply{Outcome: testpoints.ReplaceReview(testpoints.Letter{}, "")}
		}
		for name, reply := range replied {
			t.Run(p.Name+" "+name, func(t *testing.T) {
				var h hooks
				failures := handled(&h)
				p := pointNamed(&h, p.Name)
				p.AddAny(replies(reply, nil))
				_, err := p.Fire(t.Context(), nil, p.New())
				if closed := p.Hooks()[0].FailClosed; closed {
					if !errors.Is(err, hookkit.ErrIllegal) || len(failures.all()) != 0 {
						t.Errorf("Fire returned %v, reported %v", err, failures.all())
					}
				} else if err != nil || len(failures.all()) != 1 || !errors.Is(failures.all()[0], hookkit.ErrIllegal) {
					t.Errorf("Fire returned %v, reported %v", err, failures.all())
				}
			})
		}
	}
}

func TestAddAnyRefusesFailClosedWithoutAPolicy(t *testing.T) {
	decides := map[string]bool{
		"First":    true,
		"Second":   true,
		"Last":     true,
		"Shape":    true,
		"Poll":     true,
		"PollOpen": true,
		"Review":   true,
	}
	for _, p := range new(hooks).Points() {
		t.Run(p.Name, func(t *testing.T) {
			want := "hookkit: " + p.Name +
				".AddAny at SITE: FailClosed, but hooks of this point decide nothing; remove the option"
			if decides[p.Name] {
				want = ""
			}
			if got := withoutSites(panicText(func() { p.AddAny(passes, hookkit.FailClosed()) })); got != want {
				t.Errorf("panicked with %q, want %q", got, want)
			}
			if n := len(p.Hooks()); (n == 1) != decides[p.Name] {
				t.Errorf("%d hooks", n)
			}
		})
	}
}

func TestTheZeroAnyPointIsHarmless(t *testing.T) {
	var p hookkit.AnyPoint
	if p.Hooks() != nil || p.Observers() != nil || p.New() != nil || p.NewRun() != nil || p.ResumeRun("r", "", "") != nil {
		t.Error("it lists or makes something")
	}
	if fired, err := p.Fire(t.Context(), nil, nil); err == nil || !reflect.ValueOf(fired).IsZero() {
		t.Errorf("Fire returned %+v, %v", fired, err)
	}
	for method, register := range map[string]func(){
		"AddAny":         func() { p.AddAny(nil) },
		"ObserveAny":     func() { p.ObserveAny(nil) },
		"HandleFailures": func() { p.HandleFailures(nil) },
	} {
		t.Run(method, func(t *testing.T) {
			defer func() {
				text := fmt.Sprint(recover())
				if !strings.Contains(text, method+" at hookkit/point_test.go:") || !strings.Contains(text, "is zero") {
					t.Errorf("the panic is %q", text)
				}
			}()
			register()
		})
	}
}
