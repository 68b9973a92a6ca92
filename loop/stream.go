package loop

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

// An EventKind says what an Event is about, and so which of its fields is set.
type EventKind string

// The kinds of event, in the order in which a step has them. Events of runs that the run started come in
// between, under their own Run.
const (
	EventStep   EventKind = "step"   // a step has begun
	EventChunk  EventKind = "chunk"  // Chunk: a piece of a reply, before AfterLLM has seen it
	EventReply  EventKind = "reply"  // Response: a reply as AfterLLM left it
	EventResult EventKind = "result" // Result: what became of a call, as AfterTool left it
	EventEnd    EventKind = "end"    // End: what came of the run
)

// An Event is something that a reader of a stream is shown.
type Event struct {
	Kind     EventKind             `json:"kind"`
	Run      string                `json:"run"`
	Agent    string                `json:"agent"`
	Step     int                   `json:"step"`
	Chunk    *agent.Chunk          `json:"chunk,omitempty"`
	Response *agent.LLMResponse    `json:"response,omitempty"`
	Result   *agent.ToolCallResult `json:"result,omitempty"`
	End      *agent.AgentResult    `json:"end,omitempty"`
}

// ErrStoppedReading is the cause of a run's cancellation when the reader of its stream stopped reading.
var ErrStoppedReading = errors.New("the reader of the stream stopped reading")

// Stream is Do while the caller reads what happens, the model's replies as they come in if it can stream. The
// last event has kind end and the complete result; it comes with the error that Do would return. A run that
// cannot start yields its error alone. When the caller stops reading, the run is cancelled, and the loop over
// the stream returns when the run has ended. Each loop over the stream is a run.
func (a *Agent) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		events, over := make(chan Event), make(chan struct{})
		emit := func(e Event) {
			select {
			case events <- e:
			case <-over:
			}
		}
		r, err := newRun(ctx, a, req, nil, emit)
		if err != nil {
			cancel(nil)
			yield(Event{}, err)
			return
		}
		go func() {
			defer close(over)
			_, _ = r.execute() // what it returns is in the last event and in r.err
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
				if e.Kind == EventEnd && e.Run == r.id.ID() {
					end = &e
				} else if !yield(e, nil) {
					return
				}
			case <-over:
				if end != nil {
					yield(*end, r.err)
				}
				return
			}
		}
	}
}

// A stream is where the events of a run go: to the reader of the outermost run, and the pieces of replies to
// the subscribers too.
type stream struct {
	of   *run
	emit func(Event) // nil: nobody reads this run, maybe one of those around it

	mu          sync.Mutex
	subscribers []*subscriber
}

type subscriber struct{ f func(agent.Chunk) }

// reader returns who reads the run's events, nil for nobody.
func (s *stream) reader() func(Event) {
	for r := s.of; r != nil; r = r.outer {
		if r.stream.emit != nil {
			return r.stream.emit
		}
	}
	return nil
}

// read reports whether anybody reads the run's events.
func (s *stream) read() bool { return s.reader() != nil }

func (s *stream) event(e Event) {
	if show := s.reader(); show != nil {
		e.Run, e.Agent = s.of.id.ID(), s.of.agent.name()
		show(e)
	}
}

func (s *stream) subscribe(f func(agent.Chunk)) (cancel func()) {
	if f == nil {
		return func() {}
	}
	added := &subscriber{f}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(slices.Clone(s.subscribers), added)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.subscribers = slices.DeleteFunc(slices.Clone(s.subscribers), func(other *subscriber) bool { return other == added })
	}
}

func (s *stream) subscribed() []*subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subscribers
}

// A pieces is one attempt at a reply that is coming in.
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

// wanted reports whether anybody wants the pieces.
func (p *pieces) wanted() bool { return p.to.read() || len(p.to.subscribed()) > 0 }

// emit passes on one piece, unless the attempt is over.
func (p *pieces) emit(d agent.Delta) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	chunk := agent.Chunk{Step: p.step, Attempt: p.attempt, Index: p.index, Delta: d}
	p.index++
	for _, s := range p.to.subscribed() {
		if err := recoverAsError("a subscriber to pieces of replies", func() error { s.f(chunk); return nil }); err != nil {
			p.to.of.warn("%v", err)
		}
	}
	p.to.event(Event{Kind: EventChunk, Step: p.step, Chunk: &chunk})
}

// close ends the attempt: what comes later is dropped.
func (p *pieces) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
