package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A ServiceOption is an option of [Serve].
type ServiceOption interface{ applyService(*Service) }

type serviceOption func(*Service)

func (o serviceOption) applyService(s *Service) { o(s) }

// Queue names the group of services that share the requests on a subject: each request goes to one of the group. The
// default is [DefaultQueue]. Services on one subject that are of different groups would all answer each request, and
// the first reply would count.
func Queue(name string) ServiceOption {
	if err := checkSubject(name); err != nil {
		panic("nats: Queue: " + err.Error())
	}
	return serviceOption(func(s *Service) { s.queue = name })
}

// MaxCalls limits the requests that a service answers at a time; the default is [DefaultMaxCalls]. Further requests
// wait, up to 16 for each of these. If there are more, they are dropped and reported, and their senders fail when
// their time is over. It panics unless n is positive.
func MaxCalls(n int) ServiceOption {
	if n <= 0 {
		panic("nats: MaxCalls needs a positive number")
	}
	return serviceOption(func(s *Service) { s.calls = make(chan struct{}, n) })
}

// A Service answers requests until it is closed.
type Service struct {
	conn     *Conn
	hooks    wire.Handler
	queue    string
	timeout  time.Duration
	maxBytes int
	calls    chan struct{} // holds one value for each request that is being answered
	held     chan struct{} // holds one value for each request that waits or is being answered
	dropping atomic.Bool   // the last request was dropped

	subs   []*client.Subscription
	ended  []<-chan client.SubStatus
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup // requests that are being answered
}

// waitingPerCall is the number of requests that wait for each one that is answered.
const waitingPerCall = 16

// Serve answers the requests on a subject with a handler. Any number of processes may serve one subject, and each
// request goes to one of them. Requests are answered concurrently. Call Close at the end.
//
// A request gets no more time than its sender waits. A message that is not a request is refused and reported.
func Serve(conn *Conn, subject string, h wire.Handler, opts ...ServiceOption) (*Service, error) {
	if err := checkSubject(subject); err != nil {
		return nil, fmt.Errorf("nats: serve: %w", err)
	}
	s := &Service{
		conn: conn, hooks: h, queue: DefaultQueue, timeout: DefaultCallTimeout, maxBytes: DefaultMaxMessage,
		calls: make(chan struct{}, DefaultMaxCalls),
	}
	for _, o := range opts {
		o.applyService(s)
	}
	s.held = make(chan struct{}, (1+waitingPerCall)*cap(s.calls))
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	before := conn.client.LastError()
	err := conn.Do(s.ctx, func(ctx context.Context) error {
		for token, answer := range map[string]func(context.Context, []byte) ([]byte, error){
			callToken: s.call, describeToken: s.describe,
		} {
			sub, err := conn.client.QueueSubscribe(subject+token, s.queue, func(m *client.Msg) { s.receive(m, answer) })
			if err != nil {
				return err
			}
			s.subs = append(s.subs, sub)
			s.ended = append(s.ended, sub.StatusChanged(client.SubscriptionClosed))
		}
		return conn.client.FlushWithContext(ctx) // the server has refused a subject by now
	})
	last := conn.client.LastError()
	if err == nil && !errors.Is(last, before) && errors.Is(last, client.ErrPermissionViolation) {
		err = last
	}
	if err != nil {
		for _, sub := range s.subs {
			_ = sub.Unsubscribe()
		}
		return nil, fmt.Errorf("nats: serve %s: %w", subject, err)
	}
	return s, nil
}

// receive begins to answer a message. It does not wait, so the time of a request begins with its arrival.
func (s *Service) receive(m *client.Msg, answer func(context.Context, []byte) ([]byte, error)) {
	begun := time.Now()
	if !strings.HasPrefix(m.Reply, inboxes) { // for example a subject of a bucket, to which only this process may write
		s.conn.report(fmt.Errorf("a message on %s is dropped: it asks for a reply on %.80q, which is not an inbox",
			m.Subject, m.Reply))
		return
	}
	select {
	case s.held <- struct{}{}:
		s.dropping.Store(false)
	default:
		if !s.dropping.Swap(true) {
			s.conn.report(fmt.Errorf("requests on %s are dropped: %d wait already", m.Subject, cap(s.held)-cap(s.calls)))
		}
		return
	}
	if !s.begin() {
		<-s.held
		return
	}
	go func() {
		defer s.all.Done()
		defer func() { <-s.held }()
		limit := s.timeout
		if ms, err := strconv.ParseInt(m.Header.Get(headerWait), 10, 64); err == nil && ms >= 0 {
			limit = min(limit, time.Duration(min(ms, limit.Milliseconds()))*time.Millisecond)
		}
		ctx, cancel := context.WithDeadlineCause(s.ctx, begun.Add(limit),
			fmt.Errorf("nats: the time of the request, %v, is over: %w", limit, context.DeadlineExceeded))
		defer cancel()
		select {
		case s.calls <- struct{}{}:
			defer func() { <-s.calls }()
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return // the sender has given up
		}
		s.answer(ctx, m, answer)
	}()
}

// begin counts a request, unless the service is closed.
func (s *Service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.all.Add(1)
	}
	return !s.closed
}

// answer answers a message.
func (s *Service) answer(ctx context.Context, m *client.Msg, answer func(context.Context, []byte) ([]byte, error)) {
	text, err := func() (text []byte, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("a panic: %v", v)
			}
		}()
		if len(m.Data) > s.maxBytes {
			return nil, unread(fmt.Sprintf("the request has more than %d bytes", s.maxBytes))
		}
		return answer(ctx, m.Data)
	}()
	reply := client.NewMsg(m.Reply)
	if limit := s.conn.client.MaxPayload(); err == nil && int64(len(text)) > limit {
		err = refusal(fmt.Sprintf("the reply has %d bytes, and the server permits %d", len(text), limit))
	}
	if err != nil {
		s.conn.report(fmt.Errorf("a message on %s is not answered: %w", m.Subject, err))
		why := refusal("the service failed") // the error may be secret
		_ = errors.As(err, &why)
		reply.Header.Set(headerError, string(why))
		if errors.Is(err, wire.ErrRefused) {
			reply.Header.Set(headerRefused, "true")
		}
	} else {
		reply.Data = text
	}
	if err := s.conn.client.PublishMsg(reply); err != nil {
		s.conn.report(fmt.Errorf("the reply to a message on %s is lost: %w", m.Subject, err))
	}
}

// A refusal is an error that the sender of a message may read.
type refusal string

func (r refusal) Error() string { return string(r) }

// unread is the refusal of a request that the service does not read.
func unread(why string) error { return fmt.Errorf("%w: %w", wire.ErrRefused, refusal(why)) }

func (s *Service) call(ctx context.Context, text []byte) ([]byte, error) {
	var request wire.Request
	if err := wire.UnmarshalRequest(ctx, text, &request); err != nil {
		return nil, unread(fmt.Sprintf("the request is not a wire.Request: %.300v", err))
	}
	reply, err := s.hooks.Call(ctx, request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply)
}

func (s *Service) describe(ctx context.Context, _ []byte) ([]byte, error) {
	d, err := s.hooks.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

var errClosed = errors.New("nats: the service is closed")

// Close takes no new requests, answers those that it has, and returns when the replies are with the server. If ctx ends
// before, the contexts of the hooks end too, and Close waits until they have returned. Its error is then that of ctx.
func (s *Service) Close(ctx context.Context) error {
	defer s.cancel(errClosed)
	for _, sub := range s.subs {
		if err := sub.Drain(); err != nil && !errors.Is(err, client.ErrConnectionClosed) &&
			!errors.Is(err, client.ErrBadSubscription) {
			_ = sub.Unsubscribe()
		}
	}
	stop := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	defer stop()
	for _, ended := range s.ended {
		select {
		case <-ended:
		case <-s.conn.closed:
		case <-s.ctx.Done():
		}
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.conn.Do(ctx, func(ctx context.Context) error { return s.conn.client.FlushWithContext(ctx) })
}
