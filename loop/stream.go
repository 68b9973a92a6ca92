package loop

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// An EventKind selects the field of an Event that is set.
type EventKind string

// The kinds of events, in their order within a step. Events of inner runs come in between, with their own Run.
//
// EventResult comes when all calls of the reply have returned. A user interface that must not wait for the slowest one
// shows EventReturned, which comes when its call returns. Like EventChunk and EventProgress it has text that no hook
// has edited or redacted yet.
//
// The events of one call are in order: EventAsking, EventCalling, EventProgress, EventReturned, EventResult. Those of
// parallel calls mix. A call that is refused, skipped or answered by a hook has only EventResult, after EventAsking if
// a person was asked. The loop keeps no events: it waits until the reader has taken one, so a slow reader slows the
// run down.
const (
	EventStep       EventKind = "step"       // a step has begun
	EventCompacting EventKind = "compacting" // Compaction: the conversation is being compacted
	EventCompacted  EventKind = "compacted"  // Compacted: the compaction is done, or undone if Err is set
	EventChunk      EventKind = "chunk"      // Chunk: a piece of a reply, before AfterLLM
	EventReply      EventKind = "reply"      // Response: a reply, after AfterLLM
	EventAsking     EventKind = "asking"     // Question: the approver is asked about a call, and the run waits for it
	EventCalling    EventKind = "calling"    // Call: a call is dispatched
	EventFailed     EventKind = "failed"     // Failed: an attempt at a reply or at a call failed; another may follow
	EventWaiting    EventKind = "waiting"    // Wait: a hook waits, for example before it calls the model again
	EventProgress   EventKind = "progress"   // Progress: a running tool reports its progress
	EventReturned   EventKind = "returned"   // Result: a dispatched call, before AfterTool; in the order of completion
	EventResult     EventKind = "result"     // Result: the result of each call, after AfterTool; in call order
	EventSuspended  EventKind = "suspended"  // Suspended: the run waits for answers; without State, which EventEnd has
	EventEnd        EventKind = "end"        // End: the result of the run
)

// An Event is one item of a stream.
type Event struct {
	Kind       EventKind              `json:"kind"`
	Run        string                 `json:"run"`
	Agent      string                 `json:"agent"`
	Step       int                    `json:"step"`
	Chunk      *agent.Chunk           `json:"chunk,omitempty"`
	Response   *agent.LLMResponse     `json:"response,omitempty"`
	Result     *agent.ToolCallResult  `json:"result,omitempty"`
	Call       *agent.ToolCallRequest `json:"call,omitempty"`
	Progress   *agent.ToolProgress    `json:"progress,omitempty"`
	Question   *agent.Question        `json:"question,omitempty"`
	Compaction *agent.Compaction      `json:"compaction,omitempty"` // without Messages
	Compacted  *agent.Compacted       `json:"compacted,omitempty"`  // without Messages
	Failed     *Failure               `json:"failed,omitempty"`
	Wait       time.Duration          `json:"wait_ns,omitempty"`
	Suspended  *agent.Suspension      `json:"suspended,omitempty"`
	End        *agent.AgentResult     `json:"end,omitempty"`
}

// A Failure is a failed attempt at a reply of the model, or at a call.
type Failure struct {
	Attempt int                    `json:"attempt"` // from 1, within the step or the call
	Err     string                 `json:"err"`
	Call    *agent.ToolCallRequest `json:"call,omitempty"` // nil: at a reply
}

// ErrStoppedReading is the cause of a run's cancellation when the reader of its stream stopped reading.
var ErrStoppedReading = errors.New("the reader of the stream stopped reading")

// Stream is like Do and yields events while the run is working. If the model can stream, this includes the pieces
// of its replies. The last event has kind end, the complete result, and the error that Do would return. A run that
// cannot start yields only its error. If the caller stops reading, the run is cancelled, and the loop returns
// after the run has ended. Each loop over the sequence starts a new run.
func (a *Agent) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return a.stream(ctx, req, nil, func(_ agent.AgentResult, err error) error { return err })
}

// stream is Stream for an answer of a type, or of any if it is nil. The result and the error of the run go to ended,
// which returns the error of the last event.
func (a *Agent) stream(
	ctx context.Context, req Request, want *typed, ended func(agent.AgentResult, error) error,
) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithCancelCause(ctx)
		events, over := make(chan Event), make(chan struct{})
		emit := func(e Event) {
			select {
			case events <- e:
			case <-over:
			}
		}
		r, err := newRun(ctx, a, req, origin{emit: emit, typed: want})
		if err != nil {
			cancel(nil)
			yield(Event{}, err)
			return
		}
		go func() {
			defer close(over)
			_, _ = r.execute() // the result is in the last event and in r.err
		}()
		defer func() {
			cancel(ErrStoppedReading)
			for {
				select {
				case <-events:
				case <-over:
					return
				}
			}
		}()
		var end *Event
		for {
			select {
			case e := <-events:
				if e.Kind == EventEnd && e.Run == r.hookRun.ID() {
					end = &e
				} else if !yield(e, nil) {
					return
				}
			case <-over:
				if end != nil {
					yield(*end, ended(*end.End, r.err))
				}
				return
			}
		}
	}
}

// A stream delivers the events of a run to the readers of the run and of the runs that started it.
type stream struct {
	of   *run
	emit func(Event) // nil: this run has no reader, but an outer run may have one

	reading sync.Mutex // one event at a time
	mu      sync.Mutex
	shown   []byte // the text of the reply that the reader got so far
}

// orFunc returns the function that calls both, which may be nil.
func orFunc(a, b func(Event)) func(Event) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(e Event) { a(e); b(e) }
}

// read reports whether the run's events have a reader.
func (s *stream) read() bool {
	for r := s.of; r != nil; r = r.outer {
		if r.stream.emit != nil {
			return true
		}
	}
	return false
}

// event delivers an event to all readers. A reader that panics affects nobody else.
func (s *stream) event(e Event) {
	e.Run, e.Agent = s.of.hookRun.ID(), s.of.agent.name()
	for r := s.of; r != nil; r = r.outer {
		if r.stream.emit != nil {
			r.stream.deliver(e)
		}
	}
}

func (s *stream) deliver(e Event) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if err := recoverAsError("Request.Events", func() error { s.emit(e); return nil }); err != nil {
		s.of.warn("%v", err)
	}
}

// A reportingClock is that of a run as hooks see it. It reports that they wait.
type reportingClock struct {
	agent.Clock
	r *run
}

// Sleep reports the wait and sleeps.
func (w reportingClock) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 && w.r.stream.read() && !w.r.state.isClosed() {
		w.r.stream.event(Event{Kind: EventWaiting, Step: w.r.counts.get(&w.r.counts.steps), Wait: d})
	}
	return w.Clock.Sleep(ctx, d)
}

// show remembers a piece of a reply that the reader gets. first says that it is the first of an attempt.
func (s *stream) show(first bool, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		s.shown = s.shown[:0]
	}
	s.shown = append(s.shown, text...)
}

// takeShown returns the text that show has remembered, and forgets it.
func (s *stream) takeShown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(s.shown)
	s.shown = s.shown[:0]
	return text
}

// A pieces delivers the pieces of one attempt at a reply.
type pieces struct {
	to            *stream
	step, attempt int

	mu     sync.Mutex
	index  int
	closed bool
}

func (s *stream) reply(step, attempt int) *pieces {
	return &pieces{to: s, step: step, attempt: attempt}
}

// emit delivers one piece, unless the attempt has ended.
func (p *pieces) emit(d agent.Delta) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	chunk := agent.Chunk{Step: p.step, Attempt: p.attempt, Index: p.index, Delta: d}
	p.index++
	if p.to.read() {
		p.to.show(p.index == 1, d.Content)
	}
	p.to.event(Event{Kind: EventChunk, Step: p.step, Chunk: &chunk})
}

// close ends the attempt: later pieces are dropped.
func (p *pieces) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
