package hooklog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/runstore"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A Status says how a decision compares with another one.
type Status int

// The statuses.
const (
	Same          Status = iota + 1 // the decisions are the same
	Changed                         // the decisions differ
	Failed                          // a hook failed, and none failed in the event
	NotComparable                   // the payload was not fired; Why says the reason
	Missing                         // of [Diff]: the fire is only in the first record
	Added                           // of [Diff]: the fire is only in the second record
)

var statusNames = [...]string{
	Same: "same", Changed: "changed", Failed: "failed", NotComparable: "not comparable",
	Missing: "missing", Added: "added",
}

// String returns the status in words.
func (s Status) String() string {
	if s < Same || s > Added {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// A Comparison is a decision, and the decision of other hooks about the same payload.
//
// Two decisions are the same if the outcomes, the payloads as the hooks left them, and the contributions are equal as
// JSON, and either both fires returned an error or none did. The texts of errors, the reasons of Replace and Edit, the
// names of hooks, and single votes do not count.
type Comparison struct {
	Status Status
	Was    Event  // the event of the hooks that decided; the zero Event if it is Added
	Is     Event  // the event of the other hooks, of Replay and Shadow with a Seq of 0; zero if NotComparable or Missing
	Why    string // the first difference, the failure, or why it is not comparable; "" if the decisions are the same
}

// A ReplayOption changes how [Replay] fires and compares.
type ReplayOption interface{ applyReplay(*comparer) }

// A runsOption is legal in Replay and Shadow.
type runsOption interface {
	ReplayOption
	ShadowOption
}

// A runMaker is the option that [Runs] returns.
type runMaker func(info wire.RunInfo, now func() time.Time) hookkit.AnyRun

func (m runMaker) applyReplay(c *comparer)  { c.newRun = m }
func (m runMaker) applyShadow(s *shadowing) { s.newRun = m }

// Runs sets the function that makes the runs in which the other hooks are fired. Without it they see the identity of
// the recorded run and a zero environment. The function now returns when the current fire began in the record. A
// program whose environment has a clock passes it on, so that hooks with a time limit decide as they did:
//
//	hooklog.Runs(func(info wire.RunInfo, now func() time.Time) hookkit.AnyRun {
//		return hookkit.ResumeRun(&Env{Now: now, User: info.Labels["user"]}, info.ID, info.Parent, info.Root)
//	})
func Runs(newRun func(info wire.RunInfo, now func() time.Time) hookkit.AnyRun) runsOption {
	if newRun == nil {
		panic("hooklog: the function of Runs is nil")
	}
	return runMaker(newRun)
}

// A comparer fires the payloads of events at other hooks.
type comparer struct {
	points map[string]otherPoint // by spec and name
	redact Redaction
	newRun runMaker
	time   atomic.Pointer[time.Time] // when the current fire began
}

// An otherPoint is a point of the other hooks. Points whose runs have the same type share the runs.
type otherPoint struct {
	hookkit.AnyPoint
	runs *runstore.Store
}

func newComparer(points []hookkit.AnyPoint, opts []ReplayOption) *comparer {
	c := &comparer{points: map[string]otherPoint{}}
	for _, o := range opts {
		o.applyReplay(c)
	}
	byType := map[reflect.Type]*runstore.Store{}
	for _, p := range points {
		t := reflect.TypeOf(p.NewRun())
		if byType[t] == nil {
			byType[t] = runstore.New(func(_ context.Context, info wire.RunInfo) (hookkit.AnyRun, error) {
				return c.makeRun(p, info)
			}, nil)
		}
		c.points[p.Spec+" "+p.Name] = otherPoint{p, byType[t]}
	}
	return c
}

func (c *comparer) makeRun(p hookkit.AnyPoint, info wire.RunInfo) (hookkit.AnyRun, error) {
	if c.newRun == nil {
		return p.ResumeRun(info.ID, info.Parent, info.Root), nil
	}
	run := c.newRun(info, c.now)
	if run == nil {
		return nil, errors.New("the function of hooklog.Runs returned no run")
	}
	return run, nil
}

func (c *comparer) now() time.Time { return *c.time.Load() }

// point returns the point of an event, or why there is none.
func (c *comparer) point(e Event) (otherPoint, string) {
	p, ok := c.points[e.Spec+" "+e.Point]
	switch {
	case !ok:
		return p, fmt.Sprintf("the hooks have no point %s of the spec %s", e.Point, e.Spec)
	case strings.Contains(p.Results, "Around["):
		return p, fmt.Sprintf("%s wraps an act, which a replay does not have", e.Point)
	}
	return p, ""
}

// compare fires the payload of an event.
func (c *comparer) compare(ctx context.Context, was Event) Comparison {
	notComparable := func(why string, args ...any) Comparison {
		return Comparison{Status: NotComparable, Was: was, Why: fmt.Sprintf(why, args...)}
	}
	p, why := c.point(was)
	if why != "" {
		return notComparable("%s", why)
	}
	if was = was.Whole(); len(was.Omitted) > 0 {
		return notComparable("%d elements of its list %s are in an event that is missing", was.Omitted[0].Count,
			was.Omitted[0].List)
	}
	payload := p.New()
	if err := json.Unmarshal(was.Payload, payload); err != nil {
		return notComparable(
			"the payload cannot be read: %v; it was redacted to another type, or the spec has changed", err)
	}
	c.time.Store(&was.Time)
	var run hookkit.AnyRun
	if was.Run.ID != "" { // else it was fired without a run
		var err error
		if run, err = p.runs.Get(ctx, was.Run); err != nil {
			return notComparable("it has no run: %v", err)
		}
	}
	var key any // the one recorded: that of the payload may have been redacted
	if at := p.NewKey(); at != nil && was.Key != nil {
		if err := json.Unmarshal(was.Key, at); err != nil {
			return notComparable("the key cannot be read: %v; the spec has changed", err)
		}
		key = reflect.ValueOf(at).Elem().Interface()
	}
	fired, err := p.FireKey(wire.WithTrial(ctx), run, key, payload)
	if fired.Point == "" && err != nil {
		return notComparable("%v", err) // the run is of another spec
	}
	is, err := newEvent(&fired)
	if err != nil {
		return notComparable("the decision cannot be written: %v", err)
	}
	is = c.redact.event(is)
	is.Spec, is.Run = was.Spec, was.Run
	return judge(was, is, failuresAt(p.AnyPoint, is, fired), typesAt(p.AnyPoint))
}

// failuresAt returns the failures that count in a comparison. At a point with the law Check or CheckAll, an error is a
// decision.
func failuresAt(p hookkit.AnyPoint, is Event, fired hookkit.AnyFired) []Failure {
	if p.Results != "Check" && p.Results != "CheckAll" {
		return is.Failures
	}
	var crashes []Failure
	for i, f := range fired.Failures {
		if crashed(f.Cause) {
			crashes = append(crashes, is.Failures[i])
		}
	}
	return crashes
}

// crashed reports whether a hook failed in another way than by an error that it returned.
func crashed(cause error) bool {
	var panicked *hookkit.PanicError
	return errors.As(cause, &panicked) || errors.Is(cause, hookkit.ErrTimeout) || errors.Is(cause, hookkit.ErrGoexit)
}

// judge compares an event with that of other hooks about the same payload. Of the failures of the other hooks, only the
// given ones count.
func judge(was, is Event, failures []Failure, types eventTypes) Comparison {
	c := Comparison{Status: Same, Was: was, Is: is}
	if len(failures) > 0 && len(was.Failures) == 0 && was.Error == "" {
		f := failures[0]
		c.Status, c.Why = Failed, fmt.Sprintf("the hook %s (%s) failed: %s", f.By, f.Site, f.Cause)
	} else if c.Why = difference(types, was, is); c.Why != "" {
		c.Status = Changed
	}
	return c
}

// eventTypes are the types of the JSON values of events at a point. The zero value is for points of which only records
// are known.
type eventTypes struct {
	payload, collected reflect.Type
	exits              map[string]reflect.Type
}

func typesAt(p hookkit.AnyPoint) eventTypes {
	t := eventTypes{payload: reflect.TypeOf(p.New()).Elem(), exits: map[string]reflect.Type{}}
	if p.Contribution != nil {
		t.collected = reflect.SliceOf(p.Contribution)
	}
	for _, o := range p.Outcomes {
		t.exits[o.Name] = o.Type
	}
	return t
}

// difference describes the first difference between two decisions at a point; "" without one.
func difference(types eventTypes, was, is Event) string {
	if was.Decision != is.Decision {
		return fmt.Sprintf("the decision was %s and is %s", was.Decision, is.Decision)
	}
	if (was.Error == "") != (is.Error == "") {
		return fmt.Sprintf("the error was %q and is %q", was.Error, is.Error)
	}
	for _, part := range []struct {
		name    string
		typ     reflect.Type
		was, is json.RawMessage
	}{
		{"value", types.exits[was.Decision], was.Value, is.Value},
		{"payload after the hooks", types.payload, final(was), final(is)},
		{"list of contributions", types.collected, was.Collected, is.Collected},
	} {
		if !sameJSON(part.typ, part.was, part.is) {
			return fmt.Sprintf("the %s was %s and is %s", part.name, excerpt(part.was), excerpt(part.is))
		}
	}
	return ""
}

// final returns the payload as the hooks left it.
func final(e Event) json.RawMessage {
	if e.Final == nil {
		return e.Payload
	}
	return e.Final
}

// sameJSON reports whether two values are equal after they were read into the type. For example, a record can lack a
// field that was added to the payload since. A nil type is one that is not known.
func sameJSON(t reflect.Type, a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(normal(t, a), normal(t, b))
}

// normal writes a value as this program writes values of the type. Without a type, the order of keys is that of their
// names, and numbers stay as they are.
func normal(t reflect.Type, text json.RawMessage) []byte {
	var v any
	var err error
	if t == nil {
		v, err = decodeNumbers(text)
	} else {
		v = reflect.New(t).Interface()
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return text
	}
	again, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return again
}

// excerpt returns the beginning of a JSON text for a message.
func excerpt(text json.RawMessage) string {
	const most = 200
	if len(text) == 0 {
		return "absent"
	}
	if len(text) > most {
		return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(string(text[:most]), ""), len(text))
	}
	return string(text)
}
