package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
)

// A connection is one session with the server.
type connection struct {
	session *sdk.ClientSession
	link    *link
	done    chan struct{} // closed when the session has ended
	ended   atomic.Bool   // known to the calls, perhaps before done
}

// close ends the other side, then the session.
func (c *connection) close() error {
	err := c.link.stop()
	_ = c.session.Close() // its error is that of the end of the link
	<-c.done
	return err
}

// broken reports whether the connection ended, after a call failed with err.
func (c *connection) broken(err error) bool {
	select {
	case <-c.done:
		return true
	default:
		return c.unsent(err) || c.ended.Load() || errors.Is(err, io.EOF)
	}
}

// unsent reports whether a call failed before the server began it, because the connection had ended. The next call
// needs another connection.
func (c *connection) unsent(err error) bool {
	if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing) {
		c.ended.Store(true)
		return true
	}
	return false
}

// connection returns the current connection. It makes a new one if the last one has ended.
func (s *Server) connection(ctx context.Context) (*connection, error) {
	select {
	case s.dialing <- struct{}{}:
		defer func() { <-s.dialing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	was, closed := s.conn, s.closed
	s.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	if was != nil {
		if !was.broken(nil) {
			return was, nil
		}
		s.background.Go(func() { _ = was.close() }) // nobody uses it any more
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	if was != nil {
		s.toolsChanged()
	}
	return conn, nil
}

// dial opens the transport and begins a session.
func (s *Server) dial(ctx context.Context) (*connection, error) {
	l, err := s.to.open()
	if err != nil {
		return nil, err
	}
	// The library does not watch the context while it writes to a server that does not read.
	release := context.AfterFunc(ctx, func() { _ = l.stop() })
	session, err := s.client.Connect(ctx, l, nil)
	if !release() || err != nil {
		_ = l.stop()
		if session != nil {
			_ = session.Close()
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, l.describe(err)
	}
	conn := &connection{session: session, link: l, done: make(chan struct{})}
	s.background.Go(func() {
		_ = session.Wait() // calls that fail report why
		_ = l.stop()
		close(conn.done)
	})
	return conn, nil
}

// within returns a context that ends with ctx, with the server's life, or when the limit has passed.
func (s *Server) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	closed := context.AfterFunc(s.life, func() { cancel(ErrClosed) })
	end := func() {
		closed()
		cancel(context.Canceled)
	}
	if limit < 0 {
		return ctx, end
	}
	ctx, expired := context.WithTimeoutCause(ctx, limit, &timeoutError{limit})
	return ctx, func() {
		expired()
		end()
	}
}

// A timeoutError is the cause of a context whose limit of this package has passed.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("there was no answer within %v", e.limit) }

func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

func (e *timeoutError) Timeout() bool { return true }

// ask makes a request and returns when it is answered or the context is done. The library returns late only while it
// writes to a server that does not read. Such a connection is closed.
func ask[T any](
	ctx context.Context, s *Server, conn *connection, request func(context.Context) (T, error),
) (answer T, err error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := request(ctx)
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-results:
		return r.value, r.err
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.background.Go(func() {
			late := time.NewTimer(stuck)
			defer late.Stop()
			select {
			case <-results:
			case <-conn.done:
			case <-late.C:
				conn.ended.Store(true)
				_ = conn.link.stop()
			}
		})
	}
	return answer, context.Cause(ctx)
}

// failure returns the error for the caller of a request that failed. Texts from outside are bounded and redacted.
func (s *Server) failure(ctx context.Context, conn *connection, what string, err error) error {
	at := fmt.Sprintf("%s the MCP server %s", what, s.name)
	cause := context.Cause(ctx)
	if cause == nil && s.life.Err() != nil {
		cause = ErrClosed // Close ended the connection before it reached the context of the call
	}
	late := new(timeoutError)
	switch {
	case cause == nil && conn != nil && conn.broken(err):
		return &agent.ToolError{Kind: agent.FailTool, Message: fmt.Sprintf(
			"%s failed: the connection ended%s. Nobody knows whether the server acted before. The next call connects again",
			at, s.clean(conn.link.state(), maxProblem))}
	case cause == nil:
		return &agent.ToolError{
			Kind: agent.FailTool, Message: at + " failed: " + s.clean(err.Error(), maxProblem), Cause: known(err),
		}
	case errors.Is(cause, ErrClosed):
		return &agent.ToolError{Kind: agent.FailTool, Message: at + " failed: " + ErrClosed.Error(), Cause: ErrClosed}
	case errors.As(cause, &late):
		return &agent.ToolError{Kind: agent.FailTimeout, Message: at + " failed: " + late.Error(), Cause: late}
	}
	return fmt.Errorf("%s was cancelled: %w", at, cause)
}

// known returns err if its text has no foreign part, and otherwise nil.
func known(err error) error {
	for _, known := range []error{ErrClosed, sdk.ErrConnectionClosed, sdk.ErrSessionMissing} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}
