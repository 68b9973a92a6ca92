package natsfleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/fleet"
)

type natsQueue struct{ *server }

// perSubject is the code of the error about a subject that has a message. The library has no name for it.
const perSubject = 10077

// Put adds a run to the queue.
func (q natsQueue) Put(ctx context.Context, run string) error {
	return q.conn.Do(ctx, func(ctx context.Context) error {
		_, err := q.conn.JetStream().Publish(ctx, q.subject("queue", run), nil)
		if code(err) == perSubject && strings.Contains(err.Error(), "per subject") {
			return nil
		}
		return err
	})
}

// Runs returns the runs in the queue.
func (q natsQueue) Runs(ctx context.Context) (map[string]bool, error) {
	counts, err := q.runs(ctx, q.queue, "queue")
	runs := make(map[string]bool, len(counts))
	for run := range counts {
		runs[run] = true
	}
	return runs, err
}

// Lifetime returns the lifetime of a claim.
func (q natsQueue) Lifetime() time.Duration { return q.consumer.CachedInfo().Config.AckWait }

// The server keeps a request for a run this long. The time doubles while there is no run, so that idle workers cost
// the server little. After the longest request, a worker also asks whether the queue still exists. It asks at once
// after a request that failed.
const (
	firstPull = 2 * time.Second
	maxPull   = 32 * time.Second
)

// Take waits for a run. When ctx is done, it takes its request back, and no run is given to nobody.
func (q natsQueue) Take(ctx context.Context) (fleet.Delivery, error) {
	for pull := firstPull; ctx.Err() == nil; pull = min(2*pull, maxPull) {
		made := q.consumer.CachedInfo().Created
		m, err := q.request(ctx, pull)
		if m != nil {
			d, err := q.delivery(ctx, m, made)
			if d != nil || err != nil {
				return d, err
			}
		}
		if ctx.Err() == nil && (err != nil || pull == maxPull) {
			if err = errors.Join(err, q.repair(ctx)); err != nil {
				return nil, err
			}
		}
	}
	return nil, ctx.Err()
}

// request asks the server for one message, and returns nil if there was none in time. The library has such a request
// too, but it loses a message that comes when its context is done.
func (q natsQueue) request(ctx context.Context, pull time.Duration) (*client.Msg, error) {
	c := q.conn.Client()
	inbox := c.NewInbox()
	replies, err := c.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = replies.Unsubscribe() }() // it fails only if it has ended or the connection is closed
	before := c.Stats().Reconnects
	err = q.conn.Do(ctx, func(context.Context) error {
		return c.PublishRequest(fmt.Sprintf("$JS.API.CONSUMER.MSG.NEXT.%s-queue.%s", q.config.Name, consumers), inbox,
			fmt.Appendf(nil, `{"batch":1,"expires":%d}`, pull))
	})
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(pull + time.Second); time.Now().Before(end) && c.Stats().Reconnects == before; {
		// A server that is gone forgets the request, so the connection is looked at every two seconds.
		waiting, cancel := context.WithTimeout(ctx, firstPull)
		m, err := replies.NextMsgWithContext(waiting)
		cancel()
		switch {
		case err == nil && m.Reply != "":
			return m, nil
		case err == nil:
			return nil, statusError(m)
		case ctx.Err() != nil:
			return nil, q.takeBack(replies)
		case !errors.Is(err, context.DeadlineExceeded):
			return nil, err
		}
	}
	return nil, q.takeBack(replies)
}

// statusError returns the error in a reply without a run, or nil if the time of the request is over.
func statusError(m *client.Msg) error {
	switch status := m.Header.Get("Status"); status {
	case "404", "408":
		return nil
	case "503":
		return client.ErrNoResponders
	default:
		return fmt.Errorf("the server gives no run: %s %s", status, m.Header.Get("Description"))
	}
}

// takeBack ends a request. A run that the server has sent meanwhile is given back.
func (q natsQueue) takeBack(replies *client.Subscription) error {
	if err := replies.Drain(); err != nil {
		return err
	}
	for { // the library ends the subscription when the server has confirmed its end
		m, err := replies.NextMsg(firstPull)
		if err != nil {
			return nil
		}
		if m.Reply != "" {
			_ = m.Nak() // the server gives it again, at the latest when the claim ends
		}
	}
}

// deleting is how long the server may take to delete a queue.
//
// The server forgets the name of a stream first, and then moves the directory with its name away. A stream of the same
// name that is made in between loses its files. It exists and takes no message, until somebody deletes it too.
const deleting = 2 * time.Second

// repair makes the queue again if it was deleted. A worker finds its runs within two sweeps. A consumer that was made
// while its stream was being deleted answers requests with no run instead of an error, so repair asks for it by name.
func (q natsQueue) repair(ctx context.Context) error {
	missing, err := q.missing(ctx)
	if err != nil || !missing {
		return err
	}
	if err := (agent.SystemClock{}).Sleep(ctx, deleting); err != nil {
		return err
	}
	if missing, err = q.missing(ctx); err != nil || !missing { // another worker was faster
		return err
	}
	return q.conn.Do(ctx, func(ctx context.Context) error {
		_, _, err := q.openQueue(ctx)
		return err
	})
}

// missing reports whether the queue or its consumer was deleted.
func (q natsQueue) missing(ctx context.Context) (missing bool, err error) {
	err = q.conn.Do(ctx, func(ctx context.Context) error {
		_, err := q.consumer.Info(ctx)
		missing = errors.Is(err, jetstream.ErrConsumerNotFound) || code(err) == jetstream.JSErrCodeStreamNotFound
		if missing {
			return nil
		}
		return err
	})
	return missing, err
}

// delivery returns the delivery of a message, or nil if the queue was made again since made.
func (q natsQueue) delivery(ctx context.Context, m *client.Msg, made time.Time) (fleet.Delivery, error) {
	meta, err := m.Metadata()
	run := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	d := &natsDelivery{conn: q.conn, m: m, run: run}
	if err != nil || !fleet.ValidID(run) || len(m.Data) > 0 {
		_ = d.Done(ctx) // after an error, the server gives it again
		return nil, fmt.Errorf("the message on %.100q is not of this version and is dropped; its run is kept", m.Subject)
	}
	var now *jetstream.ConsumerInfo
	err = q.conn.Do(ctx, func(ctx context.Context) (err error) {
		now, err = q.consumer.Info(ctx)
		return err
	})
	if err != nil || !now.Created.Equal(made) {
		_ = m.Nak() // the server gives it again, at the latest when the claim ends
		return nil, err
	}
	d.token = fleet.Token{Queue: now.Created.UnixNano(), Message: meta.Sequence.Stream, Try: meta.NumDelivered}
	return d, nil
}

type natsDelivery struct {
	conn  *nats.Conn
	m     *client.Msg
	run   string
	token fleet.Token
}

func (d *natsDelivery) Run() string        { return d.run }
func (d *natsDelivery) Token() fleet.Token { return d.token }

func (d *natsDelivery) Renew(ctx context.Context) error {
	return d.conn.Do(ctx, func(context.Context) error { return d.m.InProgress() })
}

func (d *natsDelivery) Done(ctx context.Context) error {
	return d.conn.Do(ctx, func(ctx context.Context) error { return d.m.AckSync(client.Context(ctx)) })
}

func (d *natsDelivery) Return(ctx context.Context, after time.Duration) error {
	return d.conn.Do(ctx, func(context.Context) error {
		if after == 0 {
			return d.m.Nak()
		}
		return d.m.NakWithDelay(after)
	})
}
