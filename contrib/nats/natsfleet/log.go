package natsfleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/loop/fleet"
)

type natsLog struct{ *server }

// Append adds an event to the log of a run.
func (l natsLog) Append(ctx context.Context, run string, data []byte, last uint64) (number uint64, err error) {
	err = l.conn.Do(ctx, func(ctx context.Context) error {
		ack, err := l.conn.JetStream().Publish(ctx, l.subject("log", run), data,
			jetstream.WithExpectLastSequencePerSubject(last))
		switch code(err) {
		case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return fleet.ErrConflict
		case jetstream.JSErrCodeStreamMessageExceedsMaximum:
			return fleet.ErrTooLarge
		}
		if errors.Is(err, client.ErrMaxPayload) {
			return fmt.Errorf("%w: %d bytes, and the server takes %d", fleet.ErrTooLarge, len(data),
				l.conn.Client().MaxPayload())
		}
		if err == nil {
			number = ack.Sequence
		}
		return err
	})
	return number, err
}

// Read returns the events of a run after a number.
func (l natsLog) Read(ctx context.Context, run string, after uint64) (found []fleet.Entry, err error) {
	read := l.batch
	if !l.log.CachedInfo().Config.AllowDirect {
		read = l.one
	}
	for more := true; more; {
		var next []fleet.Entry
		err := l.conn.Do(ctx, func(ctx context.Context) (err error) {
			next, more, err = read(ctx, run, after)
			return err
		})
		if err != nil {
			return nil, err
		}
		if found = append(found, next...); len(found) > 0 {
			after = found[len(found)-1].Number
		}
	}
	return found, nil
}

// one returns the next event of a run. It asks the leader of the stream, because in a cluster the other servers may not
// have the event yet.
func (l natsLog) one(ctx context.Context, run string, after uint64) (found []fleet.Entry, more bool, err error) {
	m, err := l.log.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(l.subject("log", run)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return []fleet.Entry{{Number: m.Sequence, Time: m.Time, Event: m.Data}}, true, nil
}

// A batchRequest asks the server for several messages. The library has no function for it.
type batchRequest struct {
	First    uint64 `json:"seq"`
	Subject  string `json:"next_by_subj"`
	Most     int    `json:"batch"`
	MaxBytes int    `json:"max_bytes"`
}

// Bounds of a batch. The server sends at least one event.
const (
	batchEvents = 1000
	batchBytes  = 4 << 20
)

// batch returns the next events of a run with one request, and whether there are more.
func (l natsLog) batch(ctx context.Context, run string, after uint64) (found []fleet.Entry, more bool, err error) {
	request, err := json.Marshal(batchRequest{after + 1, l.subject("log", run), batchEvents, batchBytes})
	if err != nil {
		return nil, false, err
	}
	c := l.conn.Client()
	inbox := c.NewInbox()
	replies, err := c.SubscribeSync(inbox)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = replies.Unsubscribe() }() // it fails only if the connection is closed
	if err := c.PublishRequest("$JS.API.DIRECT.GET."+l.config.Name+"-log", inbox, request); err != nil {
		return nil, false, err
	}
	for before := uint64(0); ; before = found[len(found)-1].Number {
		m, err := replies.NextMsgWithContext(ctx)
		if err != nil {
			return nil, false, err
		}
		switch status := m.Header.Get("Status"); {
		case status == notFound && len(found) == 0:
			return nil, false, nil
		case status != "" && status != endOfBatch:
			return nil, false, fmt.Errorf("the server reads no events: %s %s", status, m.Header.Get("Description"))
		case m.Header.Get("Nats-Last-Sequence") != strconv.FormatUint(before, 10): // the connection was lost meanwhile
			return nil, false, errors.New("a message of the server is missing")
		case status == endOfBatch:
			return found, m.Header.Get("Nats-Num-Pending") != "0", nil
		}
		e, err := entryOf(m)
		if err != nil {
			return nil, false, err
		}
		found = append(found, e)
	}
}

// The status of a reply that has no event.
const (
	endOfBatch = "204"
	notFound   = "404"
)

// entryOf returns the event in a reply.
func entryOf(m *client.Msg) (fleet.Entry, error) {
	number, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	stored, failed := time.Parse(time.RFC3339Nano, m.Header.Get(jetstream.TimeStampHeaer))
	if err = errors.Join(err, failed); err != nil {
		return fleet.Entry{}, fmt.Errorf("a reply of the server has no number or time: %w", err)
	}
	return fleet.Entry{Number: number, Time: stored, Event: m.Data}, nil
}

// Last returns the number of the last event of a run.
func (l natsLog) Last(ctx context.Context, run string) (last uint64, err error) {
	err = l.conn.Do(ctx, func(ctx context.Context) error {
		m, err := l.log.GetLastMsgForSubject(ctx, l.subject("log", run))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return nil
		case err == nil:
			last = m.Sequence
		}
		return err
	})
	return last, err
}

// waits between two looks at a log that somebody waits for.
const (
	firstWait = 20 * time.Millisecond
	maxWait   = 2 * time.Second
)

// Await waits for an event after a number. The server also sends an event to those who listen to its subject, perhaps
// before it is stored, and perhaps not at all while the connection is lost. So each wait has an end.
func (l natsLog) Await(ctx context.Context, run string, after uint64) error {
	heard := make(chan struct{}, 1)
	sub, err := l.conn.Client().Subscribe(l.subject("log", run), func(*client.Msg) {
		select {
		case heard <- struct{}{}:
		default: // one is enough
		}
	})
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // it fails only if the connection is closed
	for wait := firstWait; ; {
		last, err := l.Last(ctx, run)
		if err != nil || last > after {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-heard:
			wait = firstWait
		case <-timer.C:
			wait = min(2*wait, maxWait)
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

// Runs returns the IDs of all runs, each with the count of its events.
func (l natsLog) Runs(ctx context.Context) (runs map[string]uint64, err error) {
	return l.runs(ctx, l.log, "log")
}

// runs returns the runs that have messages in a stream, each with their count.
func (s *server) runs(ctx context.Context, in jetstream.Stream, kind string) (runs map[string]uint64, err error) {
	err = s.conn.Do(ctx, func(ctx context.Context) error {
		info, err := in.Info(ctx, jetstream.WithSubjectFilter(s.subject(kind, "*")))
		if err != nil {
			return err
		}
		runs = make(map[string]uint64)
		for subject, messages := range info.State.Subjects {
			if run := subject[strings.LastIndexByte(subject, '.')+1:]; fleet.ValidID(run) {
				runs[run] = messages
			}
		}
		return nil
	})
	return runs, err
}

// Forget removes the logs of runs that ended longer ago than Config.Keep. An age limit of the stream would remove the
// first events of a run that still waits for a person.
func (l natsLog) Forget(ctx context.Context, ended map[string]fleet.Entry) error {
	if l.config.Keep == 0 || len(ended) == 0 {
		return nil
	}
	var info *jetstream.StreamInfo
	err := l.conn.Do(ctx, func(ctx context.Context) (err error) {
		info, err = l.log.Info(ctx)
		return err
	})
	for run, last := range ended {
		if err != nil || info.TimeStamp.Sub(last.Time) < l.config.Keep {
			continue
		}
		err = l.conn.Do(ctx, func(ctx context.Context) error { // a run that was submitted anew has greater numbers
			return l.log.Purge(ctx, jetstream.WithPurgeSubject(l.subject("log", run)),
				jetstream.WithPurgeSequence(last.Number+1))
		})
	}
	return err
}
