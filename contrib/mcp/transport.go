package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Transport is the place of a server: a [Command], an [HTTP] or an [InProcess].
type Transport interface {
	fmt.Stringer

	open() (*link, error)
	secrets() []string // that no error may contain
}

// A link is an open transport.
type link struct {
	transport sdk.Transport
	halt      func() error  // ends the other side before the connection is closed; may be nil
	released  func()        // frees resources after the connection is closed; may be nil
	ended     func() string // how the other side ended, for errors; may be nil

	mu      sync.Mutex
	conn    sdk.Connection
	stopped func() error
}

// Connect connects the transport and keeps the connection, so that stop can close it even if no session began.
func (l *link) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := l.transport.Connect(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
	return conn, err
}

// stop ends the other side and closes the connection. It may be called many times.
func (l *link) stop() error {
	l.mu.Lock()
	if l.stopped == nil {
		conn := l.conn
		l.stopped = sync.OnceValue(func() error {
			var err error
			if l.halt != nil {
				err = l.halt()
			}
			if conn != nil {
				_ = conn.Close() // the other side may be gone
			}
			if l.released != nil {
				l.released()
			}
			return err
		})
	}
	stopped := l.stopped
	l.mu.Unlock()
	return stopped()
}

// state describes how the other side ended, or returns "".
func (l *link) state() string {
	if l.ended == nil {
		return ""
	}
	return l.ended()
}

// describe adds the state to an error.
func (l *link) describe(err error) error {
	if state := l.state(); state != "" {
		return fmt.Errorf("%w%s", err, state)
	}
	return err
}

// InProcess is a server in the same program, for example one that also serves other clients. Its tools run in
// goroutines of the library, in which a panic ends the program. A Go function that only your agents call is simpler as
// a tool of package loop; see loop.Tool.
type InProcess struct {
	Server *sdk.Server
}

func (p InProcess) String() string  { return "in this program" }
func (InProcess) secrets() []string { return nil }

func (p InProcess) open() (*link, error) {
	if p.Server == nil {
		return nil, errors.New("the InProcess has no Server; set it")
	}
	ours, theirs := net.Pipe()
	session, err := p.Server.Connect(context.Background(),
		&sdk.IOTransport{Reader: theirs, Writer: theirs, MaxLineLength: maxMessage}, nil)
	if err != nil {
		return nil, err
	}
	return &link{
		transport: &sdk.IOTransport{Reader: ours, Writer: ours, MaxLineLength: maxMessage},
		halt: func() error {
			_ = ours.Close()
			go session.Close() //nolint:errcheck // it waits for tools that ignore their context
			return nil
		},
	}, nil
}
