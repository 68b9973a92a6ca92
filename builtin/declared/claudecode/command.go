package claudecode

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
)

const (
	maxOutput = 4 << 20  // bytes of a script's standard output
	maxStderr = 64 << 10 // bytes of its standard error that are kept
)

// An occasion is one event, for which the scripts run.
type occasion struct {
	event   string
	subject string         // that matchers are compared with
	fields  map[string]any // of the input, besides the common ones
	tool    string         // Claude Code's name of the tool, for events about tools
	input   map[string]any // the tool's arguments
}

// fire runs all scripts for an event in parallel, each with the same input, and merges their answers. The error is that
// of a script that failed, if the hooks fail closed.
func (h *Hooks) fire(ctx context.Context, run *agent.Run, o occasion) (verdict, error) {
	var chosen []handler
	for _, c := range h.handlers[o.event] {
		same := func(other handler) bool {
			return c.Command == other.Command && slices.Equal(c.Args, other.Args) && c.Shell == other.Shell &&
				c.Async == other.Async && // a script in the background cannot replace a guard
				slices.Equal(c.env, other.env) && c.broken == nil && other.broken == nil
		}
		if c.broken != nil && (c.Async || !h.FailClosed) {
			continue // Bind has reported it
		}
		if c.matches(o.subject) && (c.broken != nil || c.applies(o.tool, o.input)) &&
			!slices.ContainsFunc(chosen, same) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return verdict{}, nil
	}
	input := append(jsonx.Encode(h.common(run, o)), '\n') // for scripts that read a line
	verdicts, failures := make([]verdict, len(chosen)), make([]error, len(chosen))
	var running sync.WaitGroup
	for i, c := range chosen {
		if c.broken != nil {
			failures[i] = fmt.Errorf("%s cannot run: %w", c.at, c.broken)
			continue
		}
		if c.Async {
			go func() { // decides nothing, and may outlive the run
				_, err := h.run(context.WithoutCancel(ctx), run, c, o.event, input)
				h.report(err)
			}()
			continue
		}
		running.Go(func() { verdicts[i], failures[i] = h.run(ctx, run, c, o.event, input) })
	}
	running.Wait()
	for _, err := range failures {
		if err != nil && h.FailClosed {
			return verdict{}, err
		}
		h.report(err)
	}
	merged := merge(verdicts)
	if merged.blocks && slices.Contains(unblockable, o.event) && merged.reason != "" {
		merged.messages = append(merged.messages, Message{o.event, merged.reason})
	}
	for _, m := range merged.messages {
		if h.Notify != nil {
			h.Notify(m)
		}
	}
	return merged, ctx.Err()
}

// run runs one script.
func (h *Hooks) run(ctx context.Context, run *agent.Run, c handler, event string, input []byte) (verdict, error) {
	argv := []string{cmp.Or(c.Shell, "sh"), "-c", c.Command}
	if c.Args != nil {
		argv = []string{c.Command}
		argv = append(argv, c.Args...)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "${CLAUDE_PROJECT_DIR}", h.project())
			for _, variable := range c.env {
				name, value, _ := strings.Cut(variable, "=")
				argv[i] = strings.ReplaceAll(argv[i], "${"+name+"}", value)
			}
		}
	}
	stderr := &head{limit: maxStderr}
	begun := time.Now()
	output, status, err := wireexec.Run(ctx, argv, input, wireexec.Timeout(c.limit(event)), wireexec.MaxBytes(maxOutput),
		wireexec.Dir(h.project()), wireexec.Stderr(stderr), wireexec.Env(append(h.environment(run), c.env...)...))
	var v verdict
	if err == nil {
		v, err = read(event, output, strings.TrimSpace(stderr.String()), status)
	}
	if err != nil {
		return v, fmt.Errorf("the %s hook %q failed after %v: %w", event, c.Command,
			time.Since(begun).Round(time.Millisecond), err)
	}
	return v, nil
}

// environment returns the variables of a script: those of this process without OTEL_*, and those of Claude Code.
func (h *Hooks) environment(run *agent.Run) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OTEL_") })
	if h.Effort != "" {
		env = append(env, "CLAUDE_EFFORT="+h.Effort)
	}
	return append(env, "CLAUDE_PROJECT_DIR="+h.project(), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+session(run))
}

// A head keeps the beginning of a text.
type head struct {
	limit int
	mu    sync.Mutex
	text  []byte
}

func (b *head) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p[:min(len(p), b.limit-len(b.text))]...)
	return len(p), nil
}

func (b *head) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.ToValidUTF8(string(b.text), "\ufffd")
}
