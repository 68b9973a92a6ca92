package nats

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats/internal/streams"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// The defaults of [EventLimits].
const (
	DefaultEventBytes = 1 << 30
	DefaultEventAge   = 7 * 24 * time.Hour
)

// EventLimits bound [Events]. The zero value has the documented defaults.
type EventLimits struct {
	MaxBytes int64         // of all events; 0: 1 GiB. The oldest events make room for new ones
	MaxAge   time.Duration // of an event; 0: 7 days
	Replicas int           // the number of servers of a cluster that keep the events; 0: 1
}

// Events is a [hooklog.Sink] that keeps records on the server, where any number of processes write and read them. Make
// it with [Conn.Events] or [Conn.OpenEvents]. It is safe for concurrent use.
type Events struct {
	conn   *Conn
	name   string
	stream jetstream.Stream
	opts   []hooklog.LinesOption
}

var _ hooklog.Sink = (*Events)(nil)

// eventStreams begins the names of the streams of events, and eventSubjects their subjects.
const (
	eventStreams  = "EVENTS_"
	eventSubjects = "events."
)

// Events opens the events of a name, which consists of letters, digits, "-" and "_". Missing ones are made with the
// limits; existing ones keep the limits that they have on the server. The option [hooklog.Redact] removes secrets
// before an event is sent.
func (c *Conn) Events(
	ctx context.Context, name string, limits EventLimits, opts ...hooklog.LinesOption,
) (*Events, error) {
	if limits.MaxBytes < 0 || limits.MaxAge < 0 || limits.Replicas < 0 {
		return nil, fmt.Errorf("nats: the limits of the events %s are negative: %+v; give 0 for the default", name, limits)
	}
	limits.MaxBytes, limits.MaxAge = cmp.Or(limits.MaxBytes, DefaultEventBytes), cmp.Or(limits.MaxAge, DefaultEventAge)
	return c.events(ctx, name, opts, func(ctx context.Context) (jetstream.Stream, error) {
		return streams.Open(ctx, c.js, jetstream.StreamConfig{
			Name: eventStreams + name, Subjects: []string{eventSubjects + name}, MaxBytes: limits.MaxBytes,
			MaxAge: limits.MaxAge, Replicas: max(1, limits.Replicas), Discard: jetstream.DiscardOld,
			Duplicates: min(duplicates, limits.MaxAge), DenyDelete: true, DenyPurge: true,
		})
	})
}

// OpenEvents opens events that [Conn.Events] has made, for example to read them. Missing ones are an error.
func (c *Conn) OpenEvents(ctx context.Context, name string, opts ...hooklog.LinesOption) (*Events, error) {
	return c.events(ctx, name, opts, func(ctx context.Context) (jetstream.Stream, error) {
		return c.js.Stream(ctx, eventStreams+name)
	})
}

func (c *Conn) events(
	ctx context.Context, name string, opts []hooklog.LinesOption, open func(context.Context) (jetstream.Stream, error),
) (*Events, error) {
	if err := checkSubject(name); err != nil || strings.Contains(name, ".") {
		return nil, fmt.Errorf("nats: the events %q: give a name of letters, digits, - and _", name)
	}
	e := &Events{conn: c, name: name, opts: opts}
	err := c.Do(ctx, func(ctx context.Context) (err error) {
		e.stream, err = open(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("nats: open the events %s: %w", name, err)
	}
	return e, nil
}

// duplicates is how long the server recognizes an event that was sent again.
const duplicates = 2 * time.Minute

// WriteEvent implements [hooklog.Sink]. The server has the event when it returns nil. If the answer of the server is
// lost, the event is sent again within the time limit of the connection; the server stores it once, because both have
// one ID. It ignores the end of the context: a record is most useful when the fire was cancelled.
//
// To keep the network out of the fires, pass [hookkit.Async] to ObserveAny.
func (e *Events) WriteEvent(ctx context.Context, event hooklog.Event) error {
	var line bytes.Buffer
	if err := hooklog.Lines(&line, e.opts...).WriteEvent(ctx, event); err != nil {
		return err
	}
	text := bytes.TrimSuffix(line.Bytes(), []byte{'\n'})
	// Neither the run nor the number of the event is unique: a run that another process resumes counts from 1 again.
	sum := sha256.Sum256(text)
	id := hex.EncodeToString(sum[:])
	return e.conn.Do(context.WithoutCancel(ctx), func(ctx context.Context) error {
		for {
			_, err := e.conn.js.Publish(ctx, eventSubjects+e.name, text, jetstream.WithMsgID(id))
			switch answer := new(jetstream.APIError); {
			case err == nil:
				return nil
			case errors.Is(err, client.ErrMaxPayload):
				return fmt.Errorf("nats: an event of %s has %d bytes, and the server permits %d; "+
					"shorten it with hooklog.Redact: %w",
					event.Point, len(text), e.conn.client.MaxPayload(), err)
			case ctx.Err() != nil, errors.As(err, &answer), e.conn.client.IsClosed():
				return fmt.Errorf("nats: the events %s: %w", e.name, err)
			}
			_ = (agent.SystemClock{}).Sleep(ctx, reconnectWait) // if ctx is done, the next attempt fails
			if err := e.conn.wait(ctx); err != nil {
				return err
			}
		}
	})
}

// An EventError says which message of a stream is not an event, or that events are missing.
type EventError struct {
	Number uint64 // of the message in the stream, from 1
	Err    error
}

// Error contains both fields.
func (e *EventError) Error() string { return fmt.Sprintf("message %d: %v", e.Number, e.Err) }

// Unwrap returns Err.
func (e *EventError) Unwrap() error { return e.Err }

// Read yields the events in the order in which the server got them. It ends after the last one, or continues with each
// new event if follow is true, until the context is done, whose error comes last.
//
// For a message that is not an event, for example of another version, it yields an *[EventError] and continues. If the
// limits removed events before a slow reader came to them, an *EventError says how many. A lost connection is made
// again, and no event is left out or comes twice. Read holds a few megabytes of events at a time.
func (e *Events) Read(ctx context.Context, follow bool) iter.Seq2[hooklog.Event, error] {
	return func(yield func(hooklog.Event, error) bool) {
		if err := e.read(ctx, follow, yield); err != nil {
			yield(hooklog.Event{}, err)
		}
	}
}

// read yields the events until yield returns false or the last one is read. Then it returns nil.
func (e *Events) read(ctx context.Context, follow bool, yield func(hooklog.Event, error) bool) error {
	var (
		messages jetstream.MessagesContext
		last     uint64 // to read
	)
	err := e.conn.Do(ctx, func(ctx context.Context) error {
		info, err := e.stream.Info(ctx)
		if err != nil {
			return err
		}
		if last = info.State.LastSeq; !follow && info.State.Msgs == 0 {
			return nil
		}
		consumer, err := e.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
		if err == nil {
			messages, err = consumer.Messages(jetstream.PullMaxBytes(int(2*e.conn.client.MaxPayload() + 1<<20)))
		}
		return err
	})
	if err != nil || messages == nil {
		return err
	}
	defer messages.Stop()
	var before uint64
	for {
		m, err := e.next(ctx, messages, follow)
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		n := meta.Sequence.Stream
		if missing := n - before - 1; before > 0 && missing > 0 {
			err := fmt.Errorf("the limits removed %d events before they were read", missing)
			if !yield(hooklog.Event{}, &EventError{before + 1, err}) {
				return nil
			}
		}
		before = n
		for event, err := range hooklog.Read(bytes.NewReader(append(m.Data(), '\n'))) {
			if line := new(hooklog.LineError); errors.As(err, &line) {
				err = &EventError{n, line.Err}
			}
			if !yield(event, err) {
				return nil
			}
		}
		if !follow && (n >= last || meta.NumPending == 0) {
			return nil
		}
	}
}

// next returns the next message. A reader that does not follow waits for the time limit of the connection.
func (e *Events) next(ctx context.Context, all jetstream.MessagesContext, follow bool) (m jetstream.Msg, err error) {
	if !follow {
		err = e.conn.Do(ctx, func(ctx context.Context) error {
			m, err = all.Next(jetstream.NextContext(ctx))
			return err
		})
		return m, err
	}
	m, err = all.Next(jetstream.NextContext(ctx))
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return m, err
}
