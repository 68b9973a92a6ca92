package retry

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// Temporary reports whether another attempt may succeed after an error of a model or a tool. It is the default rule of
// the hooks of this package.
//
// These errors are temporary, also if they are wrapped:
//   - an error whose method Temporary() bool returns true, such as "overloaded" of a model client;
//   - an error with a method RetryAfter() time.Duration, unless its method Temporary returns false;
//   - a timeout;
//   - a failed connection, unless its host does not exist, and a reply that was cut (io.ErrUnexpectedEOF).
//
// All others are permanent. For example, a retry does not help against a wrong key. Also permanent are a cancellation,
// an *agent.PromptTooLong, an open [Breaker], and an *agent.ToolError that has NoRetry or StopRun or whose Kind says
// that the tool did not run.
func Temporary(err error) bool {
	if err == nil || isCancelled(err) || find[*agent.PromptTooLong](err) || find[*OpenError](err) {
		return false
	}
	var tool *agent.ToolError
	if errors.As(err, &tool) && (tool.NoRetry || tool.StopRun || !ran(tool.Kind)) {
		return false
	}
	var says interface{ Temporary() bool }
	if errors.As(err, &says) {
		// The types of package net call a refused connection permanent, so only their true counts.
		if _, network := says.(net.Error); !network || says.Temporary() {
			return says.Temporary()
		}
	}
	var host *net.DNSError
	if errors.As(err, &host) && host.IsNotFound {
		return false
	}
	return isTimeout(err) || retryAfter(err) > 0 || find[*net.OpError](err) || errors.Is(err, io.ErrUnexpectedEOF)
}

func isTimeout(err error) bool {
	var late interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &late) && late.Timeout()
}

// isCancelled reports whether a call was cancelled. A call that a time limit has cancelled is a timeout instead.
func isCancelled(err error) bool { return errors.Is(err, context.Canceled) && !isTimeout(err) }

// find reports whether err is or wraps an error of type E.
func find[E error](err error) bool {
	var found E
	return errors.As(err, &found)
}

// ran reports whether a failure of this kind comes from a tool that ran.
func ran(kind agent.FailureKind) bool {
	return kind == "" || kind == agent.FailTool || kind == agent.FailTimeout
}

// retryAfter returns the wait that an error asks for, or 0.
func retryAfter(err error) time.Duration {
	var asks interface{ RetryAfter() time.Duration }
	if !errors.As(err, &asks) {
		return 0
	}
	return asks.RetryAfter()
}
