package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// The defaults of the options of [NewCaller] and [Serve].
const (
	DefaultCallTimeout = 30 * time.Second
	DefaultMaxMessage  = 16 << 20
	DefaultMaxCalls    = 64
	DefaultQueue       = "hooks"
)

// A CallerOption is an option of [NewCaller].
type CallerOption interface{ applyCaller(*Caller) }

// MaxBytes limits a request at a service, and a reply at a caller. The default is [DefaultMaxMessage]. The server has a
// limit of its own for messages, 1 MiB by default. It panics unless n is positive.
func MaxBytes(n int) interface {
	CallerOption
	ServiceOption
} {
	if n <= 0 {
		panic("nats: MaxBytes needs a positive number")
	}
	return maxBytes(n)
}

type maxBytes int

func (m maxBytes) applyCaller(c *Caller)   { c.maxBytes = int(m) }
func (m maxBytes) applyService(s *Service) { s.maxBytes = int(m) }

// The subjects of a service end with these tokens. A service that has ended a request without a reply answers with the
// header headerError. A request has the time that its sender waits in headerWait, in milliseconds.
const (
	callToken     = ".call"
	describeToken = ".describe"
	headerError   = "Hookgen-Error"
	headerRefused = "Hookgen-Refused" // the service has not read the request
	headerWait    = "Hookgen-Wait"
)

// A Caller is a [wire.Caller] that sends each request to one of the services on a subject. It is safe for concurrent
// use. It sends no request twice, and drops a second reply to one.
type Caller struct {
	conn     *Conn
	subject  string
	timeout  time.Duration
	maxBytes int
}

// NewCaller returns a Caller for the subject of services that [Serve] started, in this process or others. A subject
// consists of names with dots between them, for example "hooks.security". It panics if the subject has another form.
func NewCaller(conn *Conn, subject string, opts ...CallerOption) *Caller {
	if err := checkSubject(subject); err != nil {
		panic("nats: NewCaller: " + err.Error())
	}
	c := &Caller{conn: conn, subject: subject, timeout: DefaultCallTimeout, maxBytes: DefaultMaxMessage}
	for _, o := range opts {
		o.applyCaller(c)
	}
	return c
}

// String returns the URL of the server without secrets, and the subject.
func (c *Caller) String() string { return c.conn.String() + " " + c.subject }

// Describe implements [wire.Caller].
func (c *Caller) Describe(ctx context.Context) (d wire.Description, err error) {
	text, err := c.do(ctx, c.subject+describeToken, nil)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	return d, err
}

// Call implements [wire.Caller].
func (c *Caller) Call(ctx context.Context, request wire.Request) (reply wire.Reply, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, c.conn.late(c.timeout))
	defer cancel()
	request.SetWait(ctx)
	body, err := json.Marshal(request)
	if err != nil {
		return wire.Reply{}, err
	}
	text, err := c.do(ctx, c.subject+callToken, body)
	if err == nil {
		err = wire.UnmarshalReply(ctx, text, &reply)
	}
	if err != nil {
		return wire.Reply{}, err
	}
	return reply, nil
}

// do sends a message once, and returns the JSON of the reply.
func (c *Caller) do(ctx context.Context, subject string, body []byte) (text []byte, err error) {
	err = c.conn.within(ctx, c.timeout, func(ctx context.Context) error {
		m := client.NewMsg(subject)
		m.Data = body
		if deadline, ok := ctx.Deadline(); ok {
			m.Header.Set(headerWait, strconv.FormatInt(time.Until(deadline).Milliseconds(), 10))
		}
		reply, err := c.conn.client.RequestMsgWithContext(ctx, m)
		switch {
		case errors.Is(err, client.ErrNoResponders):
			return fmt.Errorf("no service answers on the subject %s; start one", c.subject)
		case errors.Is(err, client.ErrMaxPayload):
			return fmt.Errorf("%w: the request has %d bytes, and the server permits %d: raise its max_payload: %w",
				wire.ErrRefused, len(body), c.conn.client.MaxPayload(), err)
		case err != nil:
			return err
		case reply.Header.Get(headerRefused) != "":
			return fmt.Errorf("%w: %.200s", wire.ErrRefused, reply.Header.Get(headerError))
		case reply.Header.Get(headerError) != "":
			return fmt.Errorf("the service answers: %.200s", reply.Header.Get(headerError))
		case len(reply.Data) > c.maxBytes:
			return fmt.Errorf("the reply has more than %d bytes", c.maxBytes)
		}
		text = reply.Data
		return nil
	})
	return text, err
}
