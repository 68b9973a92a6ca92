package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/loop/testdata/releases"
)

// opaque are the names of objects that programs fill as they like, and of maps.
var opaque = []string{"args", "data", "parameters", "extra", "remember", "Tools", "Models", "held"}

// fill sets each field of a value.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":1}`)))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("a"), value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	default:
		v.SetInt(1)
	}
}

// TestEachFieldOfEventsIsJudged: an unknown field is read, and noticed if the next events would lose it. A field of
// another type is an error.
func TestEachFieldOfEventsIsJudged(t *testing.T) {
	var e event
	fill(reflect.ValueOf(&e).Elem())
	e.Version, e.Kind, e.Result.State = version, ended, Done
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode(Entry{Event: data}); err != nil || got.foreign != "" {
		t.Fatalf("%q, %v", got.foreign, err)
	}
	kept := []string{"", ".task", ".claim", ".result", ".result.usage"} // the log keeps them, and no later event has them
	count := 0
	for what, data := range releases.Of(data, opaque...) {
		count++
		got, err := decode(Entry{Event: data})
		path, field := strings.CutPrefix(what, "field of ")
		switch {
		case !field && (!errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), "upgrade")):
			t.Errorf("%s: %v", what, err)
		case field && (err != nil || (got.foreign == "") != slices.Contains(kept, path)):
			t.Errorf("%s: %q, %v", what, got.foreign, err)
		}
	}
	if count < 150 {
		t.Errorf("only %d changes", count)
	}
}

// A story is a run of the agent clerk.
type story struct {
	turn   func(step int) string // the tool that the model calls, or ""
	asks   bool                  // before pay
	cancel bool
	crash  bool // in the first pay

	sees func(agent.ToolCallResult) // each result, unless it is nil
}

func stories() map[string]story {
	lookAndPay := func(step int) string { return []string{"", "look", "pay", ""}[step] }
	return map[string]story{
		"Approval": {turn: lookAndPay, asks: true}, "Doubt": {turn: lookAndPay, crash: true},
		"Cancelled": {turn: lookAndPay, asks: true, cancel: true},
	}
}

// worker returns a worker for the story whose tool pay counts.
func (s story) worker(store Store, pay agent.Tool) *Worker {
	model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
		if name := s.turn(req.Step); name != "" {
			return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "c", Name: name}}}
		}
		return agent.LLMResponse{Content: "done"}
	})
	w := &Worker{Store: store, Name: "w", Logger: quiet, Grace: time.Second,
		Agents: clerk(model, pay, &looptest.Tool{Name: "look", Result: "sun"})}
	if s.asks {
		w.Agents["clerk"].Hooks = loop.Hooks(agent.OnPermissionFunc(
			func(ctx context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				if call.Name == "pay" {
					return agent.Ask{Prompt: "sure?"}, nil
				}
				return nil, nil
			}))
	}
	if s.sees != nil {
		w.Agents["clerk"].Hooks.AfterTool.ObserveFunc(
			func(_ context.Context, _ *agent.Run, f agent.AfterToolFired[agent.ToolCallResult]) { s.sees(f.Payload) })
	}
	return w
}

// tell returns the log of the story.
func (s story) tell(t *testing.T) (log []Entry) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(simLifetime)
		client := NewClient(m.store())
		if err := client.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		if s.crash {
			crashes := s.worker(m.store(), &looptest.Tool{Name: "pay", Hang: true})
			work(t, crashes, func(context.Context) { time.Sleep(time.Second) })
		}
		work(t, s.worker(m.store(), &looptest.Tool{Name: "pay", Result: "paid"}), func(ctx context.Context) {
			state, err := client.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended })
			switch q := state.Questions[0]; {
			case err != nil:
			case s.cancel:
				err = client.Cancel(ctx, "a")
			case q.Doubt:
				err = client.Answer(ctx, "a", Retry(q, "ann"))
			default:
				err = client.Answer(ctx, "a", Decide(q, agent.Approval{Allow: true, By: "ann"}))
			}
			var r Result
			if err == nil {
				r, err = client.Wait(ctx, "a")
			}
			// The result of a run that was cancelled while it waited has the steps that were saved.
			if err != nil || s.cancel && (r.State != Cancelled || r.Steps != 1 || r.ModelCalls != 1 || r.ToolCalls != 1) {
				t.Errorf("%+v, %v", r, err)
			}
		})
		log = m.logs["a"]
	})
	return log
}

// An ending is the result that a worker of this release makes of a log.
type ending struct {
	state     State
	reply     string
	questions int
	paid      int
	added     int // events
	left      int64
	lines     int // of the worker's log about the run
}

// continues gives a log to a worker of this release. original is the log as its own release reads it.
func (s story) continues(t *testing.T, log, original []Entry) (end ending) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(simLifetime)
		for _, e := range log {
			m.logs["a"] = append(m.logs["a"], Entry{m.next(), time.Now(), e.Event})
		}
		if err := m.store().Queue.Put(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		pay := &looptest.Tool{Name: "pay", Result: "paid"}
		w := s.worker(m.store(), pay)
		var lines bytes.Buffer
		w.Logger = slog.New(slog.NewTextHandler(&lines, nil))
		work(t, w, func(context.Context) { time.Sleep(5 * time.Minute) })
		for i, e := range original {
			m.logs["a"][i].Event = e.Event
		}
		got, err := NewClient(m.store()).Status(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		end = ending{got.State, "", len(got.Questions), pay.Count(), len(m.logs["a"]) - len(log), w.Stats().Left,
			strings.Count(lines.String(), "is left to other workers")}
		if got.Result != nil {
			end.reply = got.Result.Reply
		}
	})
	return end
}

// TestRunsOfOtherReleases: another release has written the last event of a log, with an unknown field or with another
// type. A worker either continues the run as if it had written the event itself, or leaves it as it is. A client reads
// the state, or gets an error.
func TestRunsOfOtherReleases(t *testing.T) {
	for name, s := range stories() {
		t.Run(name, func(t *testing.T) {
			whole := s.tell(t)
			continued, left := 0, 0
			for n := 1; n <= len(whole); n++ {
				log := whole[:n]
				want := s.continues(t, log, log)
				status, err := recordOf("a", log)
				if err != nil {
					t.Fatal(err)
				}
				changes := 0
				for what, data := range releases.Of(log[n-1].Event, opaque...) {
					if changes++; testing.Short() && changes%8 != 0 {
						continue
					}
					other := append(slices.Clone(log[:n-1]), Entry{log[n-1].Number, log[n-1].Time, data})
					what = fmt.Sprintf("event %d, %s", n, what)
					s.checkClient(t, what, other, status.status())
					got := s.continues(t, other, log)
					untouched := got.added == 0 && got.paid == 0
					changed, _ := decode(other[n-1]) // its error is checked above
					loses := changed.foreign != "" && want.added > 0 && !status.cancel
					switch {
					case got == want && got.left == 0 && !loses:
						continued++
					case !untouched || got.left != 1 || got.lines != 1:
						t.Errorf("%s: %+v, want %+v, or no change", what, got, want)
					default:
						left++
					}
				}
			}
			t.Logf("%d continued, %d left", continued, left)
			if continued == 0 || left == 0 {
				t.Errorf("%d continued, %d left", continued, left)
			}
		})
	}
}

// checkClient checks the answers that a client of this release gets.
func (s story) checkClient(t *testing.T, what string, log []Entry, want Status) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(simLifetime)
		m.logs["a"] = log
		c := NewClient(m.store())
		got, err := c.Status(t.Context(), "a")
		all, listed := c.List(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		result, waited := c.Wait(ctx, "a")
		if errors.Is(err, ErrUnreadable) {
			if !errors.Is(listed, ErrUnreadable) || len(all) != 0 || !errors.Is(waited, ErrUnreadable) ||
				!errors.Is(c.Cancel(ctx, "a"), ErrUnreadable) || len(m.logs["a"]) != len(log) || ctx.Err() != nil {
				t.Errorf("%s: list %v, wait %v", what, listed, waited)
			}
			return
		}
		if err != nil || listed != nil || !reflect.DeepEqual(asStored(got), asStored(want)) {
			t.Errorf("%s: %+v, %v, want %+v, %v", what, got, err, want, listed)
		}
		if want.State.Final() != (waited == nil) || waited == nil && !reflect.DeepEqual(result, *want.Result) {
			t.Errorf("%s: %+v, %v", what, result, waited)
		}
	})
}

// TestHigherVersionsAreErrors: the error names the version, the worker and the remedy.
func TestHigherVersionsAreErrors(t *testing.T) {
	for _, text := range []string{
		`{"version":2,"kind":"ended","by":"new"}`, `{"version":2,"kind":"ended","by":"new","result":"done"}`,
	} {
		m := newMemory(simLifetime)
		c := NewClient(m.store())
		if err := c.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		m.logs["a"] = append(m.logs["a"], Entry{Number: m.next(), Event: []byte(text)})
		_, err := c.Wait(t.Context(), "a")
		for _, part := range []string{"run a", "version 2", "reads version 1", `by "new"`, "upgrade this program"} {
			if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %q", text, err, part)
			}
		}
	}
}

// TestUnknownWordsOfOtherReleases: another release knows more kinds of failures, of answers and of states. A worker
// keeps the kind of a failure. A client gives no answer that it does not know, and takes no unknown state for a result.
func TestUnknownWordsOfOtherReleases(t *testing.T) {
	s := stories()["Approval"]
	log := s.tell(t)
	index := func(text string) int {
		return slices.IndexFunc(log, func(e Entry) bool { return strings.Contains(string(e.Event), text) })
	}
	edit := func(at int, f func(*event)) []Entry {
		e, err := decode(log[at])
		if err != nil {
			t.Fatal(err)
		}
		f(&e)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return append(slices.Clone(log[:at]), Entry{log[at].Number, log[at].Time, data})
	}
	failed := edit(index(`"kind":"finished"`), func(e *event) {
		e.Outcome.Failed, e.Outcome.Result.Err, e.Outcome.Result.Kind = true, "no", "later"
	})
	var kind agent.FailureKind
	s.sees = func(r agent.ToolCallResult) { kind = cmp.Or(kind, r.Kind) }
	if end := s.continues(t, failed, failed); end.state != Suspended || end.left != 0 || kind != "later" {
		t.Errorf("%+v, the failure is of the kind %q", end, kind)
	}
	for name, c := range map[string]struct {
		log  []Entry
		want error
	}{
		"Choice": {edit(index(`"kind":"suspended"`), func(e *event) {
			e.Suspension.Questions[0].Choices = []agent.Choice{"later"}
		}), ErrAnswer},
		"State": {edit(len(log)-1, func(e *event) { e.Result.State = "later" }), ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(simLifetime)
			m.logs["a"] = c.log
			client := NewClient(m.store())
			asked := edit(index(`"kind":"suspended"`), func(*event) {})
			rec, err := recordOf("a", asked)
			if err != nil {
				t.Fatal(err)
			}
			answer := Decide(rec.asked[0], agent.Approval{Allow: true, By: "ann"})
			if err := client.Answer(t.Context(), "a", answer); !errors.Is(err, c.want) || len(m.logs["a"]) != len(c.log) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if s, err := client.Status(t.Context(), "a"); err == nil && s.Result != nil {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A newer store is that of a process of a newer release, which has one more field in each object of some events.
type newer struct {
	Log
	kind  kind
	wrote *atomic.Int64
}

func (n newer) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	if strings.Contains(string(data), fmt.Sprintf(`"kind":%q`, n.kind)) || n.kind == "" {
		data = edited(data, func(object map[string]any) { object["added_later"] = n.wrote.Add(1) })
	}
	return n.Log.Append(ctx, run, data, last)
}

func (n newer) Read(ctx context.Context, run string, after uint64) ([]Entry, error) {
	entries, err := n.Log.Read(ctx, run, after)
	for i := range entries {
		entries[i].Event = edited(entries[i].Event, func(object map[string]any) { delete(object, "added_later") })
	}
	return entries, err
}

// edited applies f to each object but opaque ones.
func edited(data []byte, f func(map[string]any)) []byte {
	var value any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		panic(err)
	}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.Collect(maps.Keys(value)) {
				if !slices.Contains(opaque, name) {
					walk(value[name])
				}
			}
			f(value)
		case []any:
			for _, v := range value {
				walk(v)
			}
		}
	}
	walk(value)
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

// TestMixedReleasesShareRuns: workers and clients of two releases share runs, while the workers stop again and again.
// The newer release has more fields in the events of one kind, or in all. Each run pays once and ends with its result.
func TestMixedReleasesShareRuns(t *testing.T) {
	for _, k := range []kind{"", submitted, replied, finished, saved, suspended, answered, ended} {
		t.Run(string(k), func(t *testing.T) {
			if testing.Short() && k != "" {
				t.Skip("the case of all kinds remains")
			}
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(simLifetime)
				s := stories()["Approval"]
				pay := &looptest.Tool{Name: "pay", Result: "paid"}
				var wrote atomic.Int64
				stores := []Store{m.store(), m.store()}
				stores[1].Log = newer{stores[1].Log, k, &wrote}
				clients := []*Client{NewClient(stores[0]), NewClient(stores[1])}
				const runs = 4
				ctx, stop := context.WithCancel(t.Context())
				var left int64
				done := make(chan int64)
				for _, store := range stores {
					go func() {
						left := int64(0)
						for ctx.Err() == nil {
							w := s.worker(store, pay)
							w.Slots, w.Sweep = 1, 200*time.Millisecond
							part, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
							if err := w.Run(part); err != nil {
								t.Error(err)
							}
							cancel()
							left += w.Stats().Left
						}
						done <- left
					}()
				}
				for i := range runs {
					id := fmt.Sprint(i)
					if err := clients[i%2].Submit(ctx, task(id)); err != nil {
						t.Error(err)
					}
				}
				for i := range runs {
					id := fmt.Sprint(i)
					status, err := clients[i%2].WaitFor(ctx, id, func(s Status) bool { return s.State == Suspended })
					if err == nil {
						err = clients[i/2%2].Answer(ctx, id, Decide(status.Questions[0], agent.Approval{Allow: true, By: "ann"}))
					}
					if err != nil {
						t.Error(err)
					}
				}
				for i := range runs {
					for n, c := range clients {
						r, err := c.Wait(ctx, fmt.Sprint(i))
						if err != nil || r.State != Done || r.Reply != "done" {
							t.Errorf("client %d: run %d: %+v, %v", n, i, r, err)
						}
					}
				}
				stop()
				for range stores {
					left += <-done
				}
				if pay.Count() != runs || wrote.Load() == 0 && k == "" {
					t.Errorf("%d payments, want %d; %d fields", pay.Count(), runs, wrote.Load())
				}
				t.Logf("%d fields, %d times left", wrote.Load(), left)
			})
		})
	}
}

// TestStatesOfOtherReleasesWait: a newer release has suspended the run, and its state has another version or one more
// field. A person has answered. The run waits for a worker of that release, or ends when a client cancels it.
func TestStatesOfOtherReleasesWait(t *testing.T) {
	s := stories()["Approval"]
	log := s.tell(t)
	at := slices.IndexFunc(log, func(e Entry) bool { return strings.Contains(string(e.Event), `"kind":"suspended"`) })
	for name, edit := range map[string]func(*agent.Suspension){
		"Version": func(s *agent.Suspension) { s.Version++ },
		"Field": func(s *agent.Suspension) {
			s.State = append([]byte(`{"added_later":1,`), s.State[1:]...)
			s.Digest = fmt.Sprintf("%x", sha256.Sum256(s.State))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := decode(log[at])
			if err != nil {
				t.Fatal(err)
			}
			edit(e.Suspension)
			data, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			other := slices.Clone(log[:at+2]) // with the answer
			other[at].Event = data
			if end := s.continues(t, other, log[:at+2]); end != (ending{state: Queued, left: 1, lines: 1}) {
				t.Errorf("%+v", end)
			}
			other = append(other, Entry{Event: []byte(`{"version":1,"kind":"cancelled"}`)})
			if end := s.continues(t, other, other); end.state != Cancelled || end.paid != 0 {
				t.Errorf("%+v", end)
			}
		})
	}
}
