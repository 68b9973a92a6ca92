package fleet

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
)

// Config are the settings of a fleet on a server. The zero value has the documented defaults. Existing streams keep the
// settings that they have on the server.
type Config struct {
	Name     string        // of the fleet, with letters, digits, "-" and "_"; "": "fleet"
	Lifetime time.Duration // of a claim that is not renewed; 0: 30 seconds. Workers renew three times as often
	MaxBytes int64         // of all logs; 0: 8 GiB. When they are full, runs wait until there is room
	Keep     time.Duration // of the log of an ended run; 0: for ever. Workers remove it, by the clock of the server
	Replicas int           // servers of a cluster that keep a copy; 0: 1
}

// The defaults of [Config].
const (
	DefaultName     = "fleet"
	DefaultLifetime = 30 * time.Second
	DefaultMaxBytes = 8 << 30
)

// Open opens the store of a fleet on a server, and makes its streams if they are missing: NAME-log and NAME-queue, with
// the subjects NAME.log.v1.RUN and NAME.queue.v1.RUN, and the bucket NAME-accounts. The store uses the connection until
// it is closed.
func Open(ctx context.Context, conn *nats.Conn, config Config) (Store, error) {
	config, err := config.complete()
	if err != nil {
		return Store{}, fmt.Errorf("fleet: %w", err)
	}
	s := &server{conn: conn, config: config}
	if err := conn.Do(ctx, s.open); err != nil {
		return Store{}, fmt.Errorf("fleet: open %s on %s: %w", config.Name, conn, err)
	}
	bucket, err := conn.Bucket(ctx, config.Name+"-accounts", nats.Limits{
		MaxBytes: accountBytes, Replicas: config.Replicas,
	})
	if err != nil {
		return Store{}, fmt.Errorf("fleet: open %s: %w", config.Name, err)
	}
	return Store{Log: natsLog{s}, Queue: natsQueue{s}, Table: natsTable{bucket}}, nil
}

func (c Config) complete() (Config, error) {
	if c.Name == "" {
		c.Name = DefaultName
	}
	if !validID(c.Name) {
		return c, fmt.Errorf("%.70q cannot be the name of a fleet; use 1 to 64 letters, digits, - and _", c.Name)
	}
	if c.Lifetime < 0 || c.MaxBytes < 0 || c.Keep < 0 || c.Replicas < 0 {
		return c, fmt.Errorf("a setting is negative: %+v; give 0 for the default", c)
	}
	if c.Lifetime == 0 {
		c.Lifetime = DefaultLifetime
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	return c, nil
}

// A server is the fleet on a server.
type server struct {
	conn     *nats.Conn
	config   Config
	log      jetstream.Stream
	consumer jetstream.Consumer
}

// Bounds of the queue and of the accounts. A message of the queue has no content, so its subject is all that it needs.
const (
	queueBytes   = 256 << 20
	accountBytes = 64 << 20
	maxClaims    = 100_000
)

func (s *server) open(ctx context.Context) (err error) {
	c := s.config
	s.log, err = s.stream(ctx, jetstream.StreamConfig{
		Name: c.Name + "-log", Subjects: []string{s.subject("log", "*")}, MaxBytes: c.MaxBytes,
		Replicas: max(c.Replicas, 1), Discard: jetstream.DiscardNew, DenyDelete: true,
		// Each server of a cluster answers direct reads, also one that is not up to date.
		AllowDirect: c.Replicas <= 1,
	})
	if err != nil {
		return err
	}
	queue, err := s.stream(ctx, jetstream.StreamConfig{
		Name: c.Name + "-queue", Subjects: []string{s.subject("queue", "*")}, MaxBytes: queueBytes,
		Replicas: max(c.Replicas, 1), Retention: jetstream.WorkQueuePolicy,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	})
	if err != nil {
		return err
	}
	s.consumer, err = queue.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.Lifetime, MaxDeliver: -1,
		MaxAckPending: maxClaims,
	})
	if errors.Is(err, jetstream.ErrConsumerExists) { // with other settings, which count
		if s.consumer, err = queue.Consumer(ctx, "workers"); err == nil {
			s.config.Lifetime = s.consumer.CachedInfo().Config.AckWait
		}
	}
	return err
}

// stream opens a stream, and makes it if it is missing.
func (s *server) stream(ctx context.Context, config jetstream.StreamConfig) (jetstream.Stream, error) {
	js := s.conn.JetStream()
	found, err := js.Stream(ctx, config.Name)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return found, err
	}
	made, err := js.CreateStream(ctx, config)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster
		return js.Stream(ctx, config.Name)
	}
	return made, err
}

// subject is the subject of a run. It has the version, so that workers of another version never get its messages.
func (s *server) subject(kind, run string) string {
	return fmt.Sprintf("%s.%s.v%d.%s", s.config.Name, kind, version, run)
}

// code returns the code of an error of the server, or 0.
func code(err error) jetstream.ErrorCode {
	if failed := new(jetstream.APIError); errors.As(err, &failed) {
		return failed.ErrorCode
	}
	return 0
}

type natsLog struct{ *server }

// Append adds an event to the log of a run.
func (l natsLog) Append(ctx context.Context, run string, data []byte, last uint64) (number uint64, err error) {
	err = l.conn.Do(ctx, func(ctx context.Context) error {
		ack, err := l.conn.JetStream().Publish(ctx, l.subject("log", run), data,
			jetstream.WithExpectLastSequencePerSubject(last))
		switch code(err) {
		case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return ErrConflict
		case jetstream.JSErrCodeStreamMessageExceedsMaximum:
			return ErrTooLarge
		}
		if errors.Is(err, client.ErrMaxPayload) {
			return fmt.Errorf("%w: %d bytes, and the server takes %d", ErrTooLarge, len(data), l.conn.Client().MaxPayload())
		}
		if err == nil {
			number = ack.Sequence
		}
		return err
	})
	return number, err
}

// Read returns the events of a run after a number.
func (l natsLog) Read(ctx context.Context, run string, after uint64) (found []Entry, err error) {
	subject := l.subject("log", run)
	for {
		var m *jetstream.RawStreamMsg
		err := l.conn.Do(ctx, func(ctx context.Context) (err error) {
			m, err = l.log.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(subject))
			return err
		})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, Entry{Number: m.Sequence, Time: m.Time, Event: m.Data})
		after = m.Sequence
	}
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

// Await waits for an event after a number. The server also sends an event to those who listen to its subject, perhaps
// before it is stored, and perhaps not at all while the connection is lost. So each wait has an end.
func (l natsLog) Await(ctx context.Context, run string, after uint64) error {
	heard := make(chan *client.Msg, 16)
	sub, err := l.conn.Client().ChanSubscribe(l.subject("log", run), heard)
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

// Runs returns the IDs of all runs.
func (l natsLog) Runs(ctx context.Context) (runs []string, err error) {
	err = l.conn.Do(ctx, func(ctx context.Context) error {
		info, err := l.log.Info(ctx, jetstream.WithSubjectFilter(l.subject("log", "*")))
		if err != nil {
			return err
		}
		for subject := range info.State.Subjects {
			if run := subject[strings.LastIndexByte(subject, '.')+1:]; validID(run) {
				runs = append(runs, run)
			}
		}
		return nil
	})
	return runs, err
}

// Forget removes the logs of runs that ended longer ago than Config.Keep. An age limit of the stream would remove the
// first events of a run that still waits for a person.
func (l natsLog) Forget(ctx context.Context, ended map[string]Entry) error {
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

// Lifetime returns the lifetime of a claim.
func (q natsQueue) Lifetime() time.Duration { return q.config.Lifetime }

// pull is how long the server keeps a request for a run.
const pull = 2 * time.Second

// Take waits for a run. When ctx is done, it returns after the current request has ended, so that no run is given to
// nobody.
func (q natsQueue) Take(ctx context.Context) (Delivery, error) {
	for ctx.Err() == nil {
		batch, err := q.consumer.Fetch(1, jetstream.FetchMaxWait(pull))
		if err != nil {
			return nil, err
		}
		for m := range batch.Messages() {
			meta, err := m.Metadata()
			run := m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
			if err != nil || !validID(run) || len(m.Data()) > 0 {
				_ = m.TermWithReason("it is not of this version") // the server gives it again
				return nil, fmt.Errorf("the message on %.100q is not of this version and is dropped; its run is kept", m.Subject())
			}
			if ctx.Err() != nil {
				_ = m.Nak() // the server gives it again, at the latest when the claim ends
				return nil, ctx.Err()
			}
			return &natsDelivery{q.conn, m, run, Token{meta.Sequence.Stream, meta.NumDelivered}}, nil
		}
		if err := batch.Error(); err != nil {
			return nil, err
		}
	}
	return nil, ctx.Err()
}

type natsDelivery struct {
	conn  *nats.Conn
	m     jetstream.Msg
	run   string
	token Token
}

func (d *natsDelivery) Run() string  { return d.run }
func (d *natsDelivery) Token() Token { return d.token }

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

type natsTable struct{ bucket *nats.Bucket }

func (t natsTable) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	e, err := t.bucket.Get(ctx, key)
	if errors.As(err, new(*agent.NotFound)) {
		return nil, 0, ErrNotFound
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
		return ErrConflict
	}
	return err
}
