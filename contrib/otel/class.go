package otel

import (
	"context"
	"errors"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// The values of error.type, in addition to the kinds of failure of a call.
const (
	classPanic     = string(agent.FailPanic)
	classTimeout   = string(agent.FailTimeout)
	classCancelled = string(agent.FailCancelled)
	classHook      = string(agent.FailHook)
	classTooLong   = "prompt_too_long"
)

// classOf returns the value of error.type for an error, or "" for nil.
func classOf(err error) (class string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil { // a method of the error panicked
			class = other
		}
	}()
	var (
		tool    *agent.ToolError
		tooLong *agent.PromptTooLong
		failure *hookkit.Failure
	)
	switch {
	case errors.As(err, &tool) && tool != nil && tool.Kind != "":
		return known(tool.Kind)
	case errors.As(err, &tooLong):
		return classTooLong
	case errors.Is(err, context.DeadlineExceeded):
		return classTimeout
	case errors.Is(err, context.Canceled):
		return classCancelled
	case errors.As(err, &failure):
		return classHook
	}
	return typeOf(err)
}

// An answered error has the HTTP status of an answer, or 0 without one. The errors of loop/openai and
// loop/anthropic are such errors, and those of the SDK of AWS.
type answered interface{ HTTPStatusCode() int }

// typeOf returns the HTTP status of an error of a server, for example 429. Otherwise it returns the first exported type
// among an error and those that it wraps, for example *url.Error. A program has a bounded number of types.
func typeOf(err error) string {
	for range 100 {
		if e, ok := err.(answered); ok { //nolint:errorlint // the loop unwraps
			if status := e.HTTPStatusCode(); status >= 100 && status < 1000 {
				return strconv.Itoa(status)
			}
			if inner := errors.Unwrap(err); inner != nil {
				err = inner
				continue
			}
		}
		t := reflect.TypeOf(err)
		if t == nil {
			break
		}
		name := t.Name()
		if t.Kind() == reflect.Pointer {
			name = t.Elem().Name()
		}
		if name == "PanicError" { // of hookkit, loop or adapt
			return classPanic
		}
		if token.IsExported(name) {
			return t.String()
		}
		err = errors.Unwrap(err)
	}
	return other
}

// known returns a kind of failure. Tools can invent kinds, which become other.
func known(kind agent.FailureKind) string {
	switch kind {
	case agent.FailTool, agent.FailPanic, agent.FailTimeout, agent.FailCancelled, agent.FailArguments, agent.FailUnknown,
		agent.FailDuplicate, agent.FailTooMany, agent.FailDisabled, agent.FailDenied, agent.FailSkipped, agent.FailHook,
		agent.FailRejected, agent.FailRunEnded, agent.FailHandoff:
		return string(kind)
	}
	return other
}

// textOf returns the text of an error whose method may panic.
func textOf(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "an error whose methods panic"
		}
	}()
	return err.Error()
}

// A failureNote is the text and the class of an error.
type failureNote struct{ text, class string }

// failed notes the last failure of a call or a hook in a run. The result of a run has the text of its error, which may
// quote the conversation, but not its class.
func (b *binding) failed(run *agent.Run, text, class string) {
	if run != nil && text != "" {
		b.runs.Do(run, func(r *openRun) { r.last = failureNote{text, class} })
	}
}

// classOfRun returns the value of error.type for a run that failed: that of its last failure if the run failed because
// of it, and otherwise by the reason why it stopped.
func classOfRun(result agent.AgentResult, last failureNote) string {
	switch {
	case last.text != "" && strings.Contains(result.Err, last.text):
		return last.class
	case result.Stop.Cause == agent.CauseTimeLimit:
		return classTimeout
	case result.Stop.Cause == agent.CauseUserRequested:
		return classCancelled
	}
	return other
}

// legible returns the text of a failure, with its class if words of the text were replaced. If no word remained, it
// returns the class alone.
func legible(text, class string) string {
	switch {
	case !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return class
	case strings.Contains(text, "…"):
		return text + " (" + class + ")"
	}
	return text
}
