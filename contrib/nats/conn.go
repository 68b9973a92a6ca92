package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	neturl "net/url"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats/internal/inprocess"
)

// DefaultTimeout is the default of [Timeout].
const DefaultTimeout = 5 * time.Second

// An Option is an option of [Connect].
type Option interface{ apply(*settings) }

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

// settings hold the values of the options.
type settings struct {
	timeout  time.Duration
	onError  func(error)
	password bool // the connection sends a password
	client   []client.Option
}

// Timeout limits a call. For a connection it is the time of each call of its buckets and streams, from its begin to the
// answer of the server; the default is [DefaultTimeout]. For a [Caller] it is the time until the reply of the hook
// service, and for [Serve] the time that the hooks of one request have; the default is [DefaultCallTimeout]. It panics
// unless d is positive.
func Timeout(d time.Duration) interface {
	Option
	CallerOption
	ServiceOption
} {
	if d <= 0 {
		panic("nats: Timeout needs a positive duration")
	}
	return timeout(d)
}

type timeout time.Duration

func (d timeout) apply(s *settings)       { s.timeout = time.Duration(d) }
func (d timeout) applyCaller(c *Caller)   { c.timeout = time.Duration(d) }
func (d timeout) applyService(s *Service) { s.timeout = time.Duration(d) }

// OnError reports what happens without a call: the connection is lost, a message was dropped because its receiver is
// slow, the server refuses a subject. The function is called by one goroutine at a time. Without it, they are logged.
func OnError(f func(error)) Option { return option(func(s *settings) { s.onError = f }) }

// Inbox sets the prefix of the subjects on which the connection receives replies. The default is _INBOX. Give each user
// of a server a prefix of its own, and the permission to subscribe to it alone, so that no user reads the replies to
// another. It begins with _INBOX, for example _INBOX_worker.
func Inbox(prefix string) Option {
	return option(func(s *settings) {
		s.client = append(s.client, func(o *client.Options) error {
			if !strings.HasPrefix(prefix, inboxes) {
				return fmt.Errorf("the prefix %q does not begin with %s", prefix, inboxes)
			}
			return client.CustomInboxPrefix(prefix)(o)
		})
	})
}

// inboxes begins the subject of each reply.
const inboxes = "_INBOX"

// Name names the connection in the lists and logs of the server.
func Name(name string) Option {
	return option(func(s *settings) { s.client = append(s.client, client.Name(name)) })
}

// Password authenticates by a user name and a password. [Connect] refuses to send it unencrypted to another machine.
// Without TLS, the connection uses only the servers in its URL, so name all servers of a cluster there. With TLS, it
// learns the others from the first one.
func Password(user, password string) Option {
	return option(func(s *settings) {
		s.password = true
		s.client = append(s.client, client.UserInfo(user, password))
	})
}

// NKey authenticates by a key pair. The file has the seed, as `nk -gen user` writes it. The seed does not leave the
// process.
func NKey(seedFile string) Option {
	return option(func(s *settings) {
		s.client = append(s.client, func(o *client.Options) error {
			key, err := client.NkeyOptionFromSeed(seedFile)
			if err != nil {
				return fmt.Errorf("the seed of the NKey cannot be read: %w", err)
			}
			return key(o)
		})
	})
}

// Credentials authenticates by a credentials file, as `nsc` writes it. The seed in it does not leave the process.
func Credentials(file string) Option {
	return option(func(s *settings) { s.client = append(s.client, client.UserCredentials(file)) })
}

// RootCA requires TLS, and trusts the authorities in a PEM file instead of those of the system.
func RootCA(file string) Option {
	return option(func(s *settings) { s.client = append(s.client, client.RootCAs(file)) })
}

// ClientCert requires TLS, and presents a certificate to the server. Both files are PEM files.
func ClientCert(certFile, keyFile string) Option {
	return option(func(s *settings) { s.client = append(s.client, client.ClientCert(certFile, keyFile)) })
}

// A Conn is a connection to a server or a cluster. It is safe for concurrent use.
type Conn struct {
	url     string
	timeout time.Duration
	client  *client.Conn
	js      jetstream.JetStream
	report  func(error)

	close  sync.Once
	closed chan struct{} // closed by Close
}

// reconnectWait is the time between two attempts to connect again.
const reconnectWait = 250 * time.Millisecond

// Connect connects to a server. The URL is that of an embedded server, or one or several of nats:// and tls:// URLs,
// separated by commas. It fails if no server can be reached now. Call Close at the end.
//
// When a server of a cluster is gone, the connection is made to another one: to one in the URL, or to one that a server
// has named. A connection with a password and without TLS uses only those in the URL.
//
// A connection that is lost is made again, for as long as it takes. A message that cannot be sent now is not kept to be
// sent later: its call fails instead.
func Connect(url string, opts ...Option) (*Conn, error) {
	c := &Conn{url: withoutSecrets(url), closed: make(chan struct{})}
	s := &settings{timeout: DefaultTimeout, onError: func(err error) { slog.Warn("nats", "error", err) }}
	for _, o := range opts {
		o.apply(s)
	}
	c.timeout = s.timeout
	var reporting sync.Mutex
	c.report = func(err error) {
		reporting.Lock()
		defer reporting.Unlock()
		s.onError(fmt.Errorf("nats: %s: %w", c.url, err))
	}
	s.client = append(s.client,
		client.Timeout(s.timeout), client.MaxReconnects(-1), client.ReconnectWait(reconnectWait),
		client.ReconnectJitter(reconnectWait/2, reconnectWait), client.ReconnectBufSize(-1),
		client.NoCallbacksAfterClientClose(),
		client.IgnoreAuthErrorAbort(), client.PermissionErrOnSubscribe(true),
		client.DisconnectErrHandler(func(_ *client.Conn, err error) {
			if err != nil {
				c.report(fmt.Errorf("the connection is lost: %w", err))
			}
		}),
		client.ErrorHandler(func(_ *client.Conn, sub *client.Subscription, err error) {
			if sub != nil {
				err = fmt.Errorf("%s: %w", sub.Subject, err)
			}
			c.report(err)
		}))
	err := c.dial(url, s)
	if err == nil {
		c.js, err = jetstream.New(c.client)
	}
	if errors.Is(err, client.ErrNoServers) {
		err = fmt.Errorf("no server answers there; start one, or check the URL: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("nats: connect to %s: %w", c.url, err)
	}
	return c, nil
}

func (c *Conn) dial(url string, s *settings) (err error) {
	if inprocess.IsURL(url) {
		dialer := inprocess.Dialer(url)
		if err := dialer.Known(); err != nil {
			return err
		}
		c.client, err = client.Connect("", append(s.client, client.InProcessServer(dialer))...)
		return err
	}
	if s.password || strings.Contains(url, "@") {
		o := client.GetDefaultOptions()
		for _, set := range s.client {
			if err := set(&o); err != nil {
				return err
			}
		}
		for each := range strings.SplitSeq(url, ",") {
			if !o.Secure && !private(each) {
				return errors.New("the password would be sent unencrypted; use a tls:// URL, or the option RootCA")
			}
		}
		if !o.Secure && !strings.HasPrefix(url, "tls://") && !strings.HasPrefix(url, "wss://") {
			// The server names others of its cluster. They may be on other machines, and get the password unencrypted.
			s.client = append(s.client, client.IgnoreDiscoveredServers())
		}
	}
	c.client, err = client.Connect(url, s.client...)
	return err
}

// private reports whether nobody else reads the messages to a URL: they are encrypted, or stay on the machine.
func private(url string) bool {
	u, err := neturl.Parse(strings.TrimSpace(url))
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "tls" || u.Scheme == "wss" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// withoutSecrets removes user names, passwords and tokens from the URLs of servers.
func withoutSecrets(urls string) string {
	var all []string
	for each := range strings.SplitSeq(urls, ",") {
		if at := strings.LastIndexByte(each, '@'); at >= 0 {
			scheme, _, ok := strings.Cut(each[:at], "://")
			if each = each[at+1:]; ok {
				each = scheme + "://" + each
			}
		}
		all = append(all, strings.TrimSpace(each))
	}
	return strings.Join(all, ",")
}

// String returns the URL without user names and passwords.
func (c *Conn) String() string { return c.url }

// Client returns the connection of the library, for messages that this package does not know. The connection is that of
// c: do not close it.
func (c *Conn) Client() *client.Conn { return c.client }

// JetStream returns the streams of the server, as the library has them.
func (c *Conn) JetStream() jetstream.JetStream { return c.js }

// Close closes the connection. Calls that wait for the server fail. It returns nil.
func (c *Conn) Close() error {
	c.close.Do(func() { close(c.closed) })
	c.client.Close()
	return nil
}

// Do calls f with a context that ends after the time limit of the connection. It waits for a lost connection first,
// within the same limit. If the time is over, the error says so.
func (c *Conn) Do(ctx context.Context, f func(ctx context.Context) error) error {
	return c.within(ctx, c.timeout, f)
}

func (c *Conn) within(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, c.late(limit))
	defer cancel()
	err := c.wait(limited)
	if err == nil {
		err = f(limited)
	}
	if err != nil && limited.Err() != nil {
		return context.Cause(limited)
	}
	return err
}

// late is the error of a call whose time is over.
func (c *Conn) late(limit time.Duration) error {
	return fmt.Errorf("nats: %s: no reply within %v: %w", c.url, limit, context.DeadlineExceeded)
}

var errClosedConn = errors.New("nats: the connection is closed")

// wait waits for the connection.
func (c *Conn) wait(ctx context.Context) error {
	if c.client.IsConnected() {
		return nil
	}
	again := c.client.StatusChanged(client.CONNECTED, client.CLOSED)
	defer c.client.RemoveStatusListener(again)
	if c.client.IsConnected() { // since the first look
		return nil
	}
	if !c.client.IsClosed() {
		select {
		case status := <-again:
			if status == client.CONNECTED {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return errClosedConn
}
