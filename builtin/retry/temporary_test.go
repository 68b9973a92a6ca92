package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A refusal is permanent, whatever it wraps.
type refusal struct{ cause error }

func (refusal) Error() string   { return "invalid key" }
func (refusal) Temporary() bool { return false }
func (e refusal) Unwrap() error { return e.cause }

// A busy error only asks for a wait.
type busy time.Duration

func (busy) Error() string               { return "busy" }
func (b busy) RetryAfter() time.Duration { return time.Duration(b) }

// A late error has a timeout.
type late struct{}

func (late) Error() string   { return "late" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return false }

// An early error has no timeout.
type early struct{}

func (early) Error() string { return "early" }
func (early) Timeout() bool { return false }

func TestTemporary(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	lost := &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}
	tool := func(e agent.ToolError) error {
		e.Cause = overload{}
		return &e
	}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"plain", errors.New("down"), false},
		{"overload", overload{}, true},
		{"wrapped", fmt.Errorf("model: %w", overload{}), true},
		{"joined", errors.Join(errors.New("x"), overload{}), true},
		{"refusal", refusal{}, false},
		{"refusal of a connection error", refusal{refused}, false},
		{"asks for a wait", busy(time.Second), true},
		{"asks for the shortest wait", busy(1), true},
		{"asks for no wait", busy(0), false},
		{"deadline after another error", fmt.Errorf("%w: %w", early{}, context.DeadlineExceeded), true},
		{"deadline of a file after another error", fmt.Errorf("%w: %w", early{}, os.ErrDeadlineExceeded), true},
		{"no deadline", early{}, false},
		{"connection refused", &url.Error{Op: "Post", URL: "http://x", Err: refused}, true},
		{"unknown host", &url.Error{Op: "Post", URL: "http://x", Err: lost}, false},
		{"slow host", &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}, true},
		{"malformed URL", &url.Error{Op: "Post", Err: errors.New("missing scheme")}, false},
		{"timeout", late{}, true},
		{"deadline", context.DeadlineExceeded, true},
		{"deadline of a file", os.ErrDeadlineExceeded, true},
		{"cut reply", io.ErrUnexpectedEOF, true},
		{"end of file", io.EOF, false},
		{"cancelled", context.Canceled, false},
		{"cancelled by a time limit", fmt.Errorf("%w: %w", &loop.TimeoutError{}, context.Canceled), true},
		{"cancelled overload", fmt.Errorf("%w: %w", overload{}, context.Canceled), false},
		{"prompt too long", fmt.Errorf("%w: %w", overload{}, &agent.PromptTooLong{}), false},
		{"open breaker", fmt.Errorf("%w: %w", overload{}, &retry.OpenError{}), false},
		{"tool", tool(agent.ToolError{}), true},
		{"tool timeout", tool(agent.ToolError{Kind: agent.FailTimeout}), true},
		{"tool without retry", tool(agent.ToolError{NoRetry: true}), false},
		{"tool stops the run", tool(agent.ToolError{StopRun: true}), false},
		{"tool arguments", tool(agent.ToolError{Kind: agent.FailArguments}), false},
		{"denied", tool(agent.ToolError{Kind: agent.FailDenied}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := retry.Temporary(c.err); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
