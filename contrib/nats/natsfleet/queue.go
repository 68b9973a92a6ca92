package natsfleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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

// pull is how long the server keeps a request for a run.
const pull = 2 * time.Second

// repairEvery is the number of pulls without a run after which a worker asks whether the queue still exists. It asks at
// once after a pull that failed.
const repairEvery = 15

// Take waits for a run. When ctx is done, it returns after the current request has ended, so that no run is given to
// nobody.
func (q natsQueue) Take(ctx context.Context) (fleet.Delivery, error) {
	for pulls := 1; ctx.Err() == nil; pulls++ {
		made := q.consumer.CachedInfo().Created
		var batch jetstream.MessageBatch
		err := q.conn.Do(ctx, func(context.Context) (err error) {
			batch, err = q.consumer.Fetch(1, jetstream.FetchMaxWait(pull))
			return err
		})
		if err != nil {
			return nil, err
		}
		for m := range batch.Messages() {
			d, err := q.delivery(ctx, m, made)
			if d != nil || err != nil {
				return d, err
			}
		}
		if err := batch.Error(); err != nil || pulls%repairEvery == 0 {
			if err = errors.Join(err, q.repair(ctx)); err != nil {
				return nil, err
			}
		}
	}
	return nil, ctx.Err()
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
func (q natsQueue) delivery(ctx context.Context, m jetstream.Msg, made time.Time) (fleet.Delivery, error) {
	meta, err := m.Metadata()
	run := m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
	if err != nil || !fleet.ValidID(run) || len(m.Data()) > 0 {
		_ = q.conn.Do(ctx, m.DoubleAck) // after an error, the server gives it again
		return nil, fmt.Errorf("the message on %.100q is not of this version and is dropped; its run is kept", m.Subject())
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
	return &natsDelivery{q.conn, m, run, fleet.Token{
		Queue: now.Created.UnixNano(), Message: meta.Sequence.Stream, Try: meta.NumDelivered,
	}}, nil
}

type natsDelivery struct {
	conn  *nats.Conn
	m     jetstream.Msg
	run   string
	token fleet.Token
}

func (d *natsDelivery) Run() string        { return d.run }
func (d *natsDelivery) Token() fleet.Token { return d.token }

func (d *natsDelivery) Renew(ctx context.Context) error {
	return d.conn.Do(ctx, func(context.Context) error { return d.m.InProgress() })
}

func (d *natsDelivery) Done(ctx context.Context) error { return d.conn.Do(ctx, d.m.DoubleAck) }

func (d *natsDelivery) Return(ctx context.Context, after time.Duration) error {
	return d.conn.Do(ctx, func(context.Context) error {
		if after == 0 {
			return d.m.Nak()
		}
		return d.m.NakWithDelay(after)
	})
}
