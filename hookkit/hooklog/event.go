package hooklog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// An Event is one fire of a point: the payload before and after the hooks, their votes, and the decision.
type Event struct {
	Protocol int             `json:"protocol"` // [wire.Protocol]
	Seq      int64           `json:"seq"`      // counts the events of one recorder, from 1
	Time     time.Time       `json:"time"`     // when the fire began
	Spec     string          `json:"spec"`     // the import path of the spec's package
	Point    string          `json:"point"`
	Run      wire.RunInfo    `json:"run"`
	Key      json.RawMessage `json:"key,omitempty"`     // at a point with a key, as it was when the fire began
	Payload  json.RawMessage `json:"payload"`           // as it was passed to Fire
	Final    json.RawMessage `json:"final,omitempty"`   // as the hooks left it; absent if they did not change it
	Decision string          `json:"decision"`          // as in a [wire.Reply]; [wire.Continue] if every hook continued
	Value    json.RawMessage `json:"value,omitempty"`   // the exit
	By       string          `json:"by,omitempty"`      // the name of the hook that decided
	Site     string          `json:"site,omitempty"`    // where that hook was registered
	Reason   string          `json:"reason,omitempty"`  // of the decision
	Error    string          `json:"error,omitempty"`   // that Fire returned
	Ballots  []Ballot        `json:"ballots,omitempty"` // at points whose hooks vote

	Omitted   []Omitted       `json:"omitted,omitempty"`   // lists whose first elements an earlier event has
	Collected json.RawMessage `json:"collected,omitempty"` // an array, at points that collect
	Failures  []Failure       `json:"failures,omitempty"`  // of every hook that failed, in order
	Slow      []SlowHook      `json:"slow,omitempty"`      // the hooks that took longer than [SlowAfter]
	Elapsed   time.Duration   `json:"elapsed"`             // of the hooks, in nanoseconds

	whole map[listKey][][]byte // the lists of which the event has only a part, see Whole
}

// SlowAfter is the limit after which a record has the time of a hook. To measure it, the fires with a record call each
// hook as those with a [hookkit.Tracer] do. Other fires pay nothing.
const SlowAfter = 10 * time.Millisecond

// A SlowHook is the time of one hook.
type SlowHook struct {
	By      string        `json:"by"`
	Site    string        `json:"site"`
	After   time.Duration `json:"after"`   // from the beginning of the fire until the hook was called, in nanoseconds
	Elapsed time.Duration `json:"elapsed"` // until it returned, in nanoseconds
}

// A Ballot is the vote of one hook.
type Ballot struct {
	By       string          `json:"by"`
	Site     string          `json:"site"`
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
}

// A Failure is the failure of one hook.
type Failure struct {
	By    string `json:"by"`
	Site  string `json:"site"`
	Cause string `json:"cause"`
}

// A Sink stores events. Its method may be called concurrently. An error is a failure of the observer that wrote the
// event, and goes to the failure handler of the hooks.
type Sink interface {
	WriteEvent(ctx context.Context, e Event) error
}

// Capture returns a function that encodes a fire of the points with these names, and returns the function that writes
// the event to s. It returns nil for other points. The argument spec is the import path of their spec's package. Only
// generated code needs it: its function Record returns an observer of all wire points.
//
// The functions panic if an event cannot be written. That is the failure of an observer: the failure handler of the
// hooks gets it, and the program continues.
func Capture(
	s Sink, spec string, points ...string,
) func(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) (write func()) {
	if s == nil {
		panic("hooklog: the Sink of a recorder is nil")
	}
	var seq atomic.Int64
	return func(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) func() {
		if !slices.Contains(points, fired.Point) {
			return nil
		}
		refuse := func(err error) {
			if err != nil {
				panic(fmt.Errorf("hooklog: an event of %s is not recorded: %w", fired.Point, err))
			}
		}
		e, err := newEvent(&fired)
		refuse(err)
		e.Seq, e.Spec, e.Run = seq.Add(1), spec, wire.InfoOf(run)
		return func() { refuse(writeEncoded(ctx, s, &e)) }
	}
}

// writeEncoded passes an event to a sink. A sink of this package does not check again that the JSON values are JSON. It
// is recognized by its type: a struct of a program that embeds a *Log and has its own WriteEvent would have all other
// methods of the Log.
func writeEncoded(ctx context.Context, s Sink, e *Event) error {
	switch s := s.(type) {
	case *Log:
		return s.write(e, true)
	case *lines:
		return s.write(e, true)
	}
	return s.WriteEvent(ctx, *e)
}

// newEvent converts the result of a fire to an event without the number, the spec and the run.
func newEvent(fired *hookkit.AnyFired) (e Event, err error) {
	e = Event{
		Protocol: wire.Protocol, Time: fired.Start, Point: fired.Point,
		Decision: cmp.Or(decisionNames[fired.Decision], fired.Decision), By: fired.Hook, Site: fired.Site,
		Reason: fired.Reason, Elapsed: fired.Elapsed,
	}
	if fired.Err != nil {
		e.Error = fmt.Sprint(fired.Err) // also a typed nil, whose Error may panic
	}
	for _, f := range fired.Failures {
		e.Failures = append(e.Failures, Failure{f.Hook, f.Site, fmt.Sprint(f.Cause)})
	}
	for _, h := range fired.Slow {
		e.Slow = append(e.Slow, SlowHook{h.Hook, h.Site, h.Start.Sub(fired.Start), h.Elapsed})
	}
	encode := func(v any) json.RawMessage {
		text, failed := json.Marshal(v)
		if err == nil {
			err = failed
		}
		return text
	}
	if fired.Key != nil {
		e.Key = encode(fired.Key)
	}
	e.Payload = encode(fired.Payload)
	if fired.Decision == hookkit.DecisionReplace || fired.Decision == hookkit.DecisionEdit || fired.Exit != nil {
		if final := encode(fired.Final); !bytes.Equal(final, e.Payload) {
			e.Final = final
		}
	}
	if fired.Exit != nil {
		e.Value = encode(fired.Exit)
	}
	if fired.Collected != nil {
		e.Collected = encode(fired.Collected)
	}
	for _, b := range fired.Ballots {
		e.Ballots = append(e.Ballots, Ballot{b.Hook, b.Site, b.Decision, b.Reason, encode(b.Exit)})
	}
	return e, err
}

// decisionNames are the names in messages of the decisions that are not exits.
var decisionNames = map[string]string{
	"": wire.Continue, hookkit.DecisionReplace: wire.Replace, hookkit.DecisionEdit: wire.Edit,
}

// Lines returns a Sink that writes each event as one line of JSON, with one call of Write. A list that begins like that
// of an earlier line has only its other elements, see [Omitted].
func Lines(w io.Writer, opts ...LinesOption) Sink {
	l := &lines{w: w}
	for _, o := range opts {
		o.applyLines(l)
	}
	return l
}

type lines struct {
	mu      sync.Mutex
	w       io.Writer
	encoder lineWriter
}

// WriteEvent implements [Sink].
func (l *lines) WriteEvent(_ context.Context, e Event) error { return l.write(&e, false) }

func (l *lines) write(e *Event, encoded bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := l.encoder.line(e, encoded)
	if err == nil {
		_, err = l.w.Write(line)
	}
	return l.encoder.written(err)
}
