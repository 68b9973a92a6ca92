// Package natsfleet is the store of a fleet on NATS: one server, also an embedded one, or a cluster. [Open] returns it,
// and package fleet of loop has the workers and clients that use it.
package natsfleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/internal/streams"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/fleet"
)

// Config are the settings of a fleet on a server. The zero value has the documented defaults. Existing streams keep the
// settings that they have on the server.
type Config struct {
	Name     string        // of the fleet, with letters, digits, "-" and "_"; "": "fleet"
	Lifetime time.Duration // of a claim that is not renewed; 0: 30 seconds. Workers renew three times as often
	MaxBytes int64         // of all logs; 0: 512 MiB. When they are full, runs wait until there is room
	Replicas int           // servers of a cluster that keep a copy; 0: 1

	// Keep is how long the log of an ended run is kept; 0: for ever. Workers remove it, by the clock of the server. From
	// then on, a task with the same ID is a new run.
	Keep time.Duration

	// KeepAccounts is how long an account is kept after its last change; 0: for ever. Then it has spent nothing, so use
	// more than the time for which a limit counts. For example, it is 40 days for accounts of a month.
	KeepAccounts time.Duration
}

// The defaults of [Config].
const (
	DefaultName     = "fleet"
	DefaultLifetime = 30 * time.Second
	DefaultMaxBytes = 512 << 20 // some 30,000 runs of 14 kB
)

// Open opens the store of a fleet on a server, and makes its streams if they are missing: NAME-log and NAME-queue, with
// the subjects NAME.log.v1.RUN and NAME.queue.v1.RUN, and the bucket NAME-accounts. The store uses the connection until
// it is closed.
func Open(ctx context.Context, conn *nats.Conn, config Config) (fleet.Store, error) {
	config, err := config.complete()
	if err != nil {
		return fleet.Store{}, fmt.Errorf("fleet: %w", err)
	}
	s := &server{conn: conn, config: config}
	bucket, err := conn.Bucket(ctx, config.Name+"-accounts", nats.Limits{
		MaxBytes: accountBytes, Replicas: config.Replicas, TTL: config.KeepAccounts,
	})
	if err == nil {
		err = conn.Do(ctx, s.open)
	}
	switch code(err) {
	case noAccountResources, noResources, noStorage:
		err = fmt.Errorf("the server has no room for %d MiB of logs and %d MiB of other files; set Config.MaxBytes, now %d "+
			"bytes, or let the server use more storage: %w", config.MaxBytes>>20, (queueBytes+accountBytes)>>20,
			config.MaxBytes, err)
	}
	if err != nil {
		return fleet.Store{}, fmt.Errorf("fleet: open %s on %s: %w", config.Name, conn, err)
	}
	return fleet.Store{Log: natsLog{s}, Queue: natsQueue{s}, Table: natsTable{bucket}}, nil
}

func (c Config) complete() (Config, error) {
	c.Name = cmp.Or(c.Name, DefaultName)
	if !fleet.ValidID(c.Name) {
		return c, fmt.Errorf("%.70q cannot be the name of a fleet; use 1 to 64 letters, digits, - and _", c.Name)
	}
	if c.Lifetime < 0 || c.MaxBytes < 0 || c.Keep < 0 || c.Replicas < 0 || c.KeepAccounts < 0 {
		return c, fmt.Errorf("a setting is negative: %+v; give 0 for the default", c)
	}
	c.Lifetime, c.MaxBytes = cmp.Or(c.Lifetime, DefaultLifetime), cmp.Or(c.MaxBytes, DefaultMaxBytes)
	return c, nil
}

// A server is the fleet on a server.
type server struct {
	conn     *nats.Conn
	config   Config
	log      jetstream.Stream
	queue    jetstream.Stream
	consumer jetstream.Consumer
}

// Bounds of the queue and of the accounts. A message of the queue has no content, so its subject is all that it needs.
const (
	queueBytes   = 64 << 20
	accountBytes = 64 << 20
	maxClaims    = 100_000
)

// The codes of errors about missing room. The library has no names for them.
const (
	noAccountResources = 10002
	noResources        = 10023
	noStorage          = 10047
)

// open opens the queue and then the logs. If the logs do not fit, they do not exist, and smaller ones can be made.
func (s *server) open(ctx context.Context) (err error) {
	c := s.config
	if s.queue, s.consumer, err = s.openQueue(ctx); err != nil {
		return err
	}
	s.log, err = streams.Open(ctx, s.conn.JetStream(), jetstream.StreamConfig{
		Name: c.Name + "-log", Subjects: []string{s.subject("log", "*")}, MaxBytes: c.MaxBytes,
		Replicas: max(c.Replicas, 1), Discard: jetstream.DiscardNew, DenyDelete: true,
		// Each server of a cluster answers direct reads, also one that is not up to date.
		AllowDirect: c.Replicas <= 1,
	})
	return err
}

// consumers is the name of the consumer that all workers share.
const consumers = "workers"

// openQueue opens the queue, and makes it if it is missing. Its consumer gives the runs to the workers.
func (s *server) openQueue(ctx context.Context) (queue jetstream.Stream, consumer jetstream.Consumer, err error) {
	c := s.config
	queue, err = streams.Open(ctx, s.conn.JetStream(), jetstream.StreamConfig{
		Name: c.Name + "-queue", Subjects: []string{s.subject("queue", "*")}, MaxBytes: queueBytes,
		Replicas: max(c.Replicas, 1), Retention: jetstream.WorkQueuePolicy,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	})
	if err != nil {
		return nil, nil, err
	}
	consumer, err = queue.Consumer(ctx, consumers)
	if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return queue, consumer, err
	}
	consumer, err = queue.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: consumers, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.Lifetime, MaxDeliver: -1,
		MaxAckPending: maxClaims,
	})
	if errors.Is(err, jetstream.ErrConsumerExists) { // another process was faster, and its settings count
		consumer, err = queue.Consumer(ctx, consumers)
	}
	return queue, consumer, err
}

// subject is the subject of a run. Its version is that of the streams. Events have a version of their own: a client
// must find the run, and get an error about an event that it cannot read.
func (s *server) subject(kind, run string) string {
	return fmt.Sprintf("%s.%s.v1.%s", s.config.Name, kind, run)
}

// code returns the code of an error of the server, or 0.
func code(err error) jetstream.ErrorCode {
	if failed := new(jetstream.APIError); errors.As(err, &failed) {
		return failed.ErrorCode
	}
	return 0
}

type natsTable struct{ bucket *nats.Bucket }

func (t natsTable) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	e, err := t.bucket.Get(ctx, key)
	if errors.As(err, new(*agent.NotFound)) {
		return nil, 0, fleet.ErrNotFound
	}
	return e.Value, e.Revision, err
}

func (t natsTable) Put(ctx context.Context, key string, value []byte, last uint64) (err error) {
	if last == 0 {
		_, err = t.bucket.Create(ctx, key, value)
	} else {
		_, err = t.bucket.Update(ctx, key, value, last)
	}
	if errors.As(err, new(*nats.Conflict)) {
		return fleet.ErrConflict
	}
	return err
}
