package permission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/terminal"
)

// Terminal asks the user at a terminal. It is an approver for a loop, not a hook.
//
// It writes the question and reads one line. "y" and "yes" approve, in any case; every other answer declines. The end
// of the input is no answer, but an error that matches io.EOF: for example, the question of a suspended run stays open.
// A question that does not take the answer "allow" or "deny" returns an error that names its choices. If reading or
// writing fails, Approve returns the error. A loop that waits for the answer declines the call after an error.
//
// Questions of concurrent runs are asked one at a time. If the context is done before the user answers, Approve returns
// the context's error. A line that the user types after that, but before the next question, is discarded. In is read
// only to the end of the line, so the program can read In too. Because a pending read cannot be cancelled, one
// goroutine waits for the rest of the line.
//
// A Terminal is safe for concurrent use and must not be copied.
type Terminal struct {
	In          io.Reader // nil: the standard input
	Out         io.Writer // nil: the standard error
	DeclineText string    // the reason if the user declines; "": "user declined"

	once    sync.Once
	turn    chan struct{}  // a semaphore: one question at a time
	lines   chan inputLine // receives the line that the goroutine reads
	reading bool           // a goroutine is reading; guarded by turn
	buffer  [maxLine]byte  // of the goroutine
}

// An inputLine is a line of input, or the error of reading it.
type inputLine struct {
	text string
	err  error
}

// maxLine is the most bytes of a line that are compared with "yes"; a longer line declines.
const maxLine = 256

// Approve asks a question and waits for the answer. Its errors are those of In, Out and ctx.
func (a *Terminal) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	if err := cmp.Or(ctx.Err(), q.Check(agent.Approval{Allow: true}), q.Check(agent.Approval{})); err != nil {
		return agent.Approval{}, err
	}
	a.once.Do(func() { a.turn, a.lines = make(chan struct{}, 1), make(chan inputLine, 1) })
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return agent.Approval{}, ctx.Err()
	}
	if a.reading {
		select {
		case <-a.lines: // the user typed this line before the question
			a.reading = false
		default:
		}
	}
	if _, err := io.WriteString(cmp.Or[io.Writer](a.Out, os.Stderr), questionText(q)); err != nil {
		return agent.Approval{}, fmt.Errorf("the question could not be shown: %w", err)
	}
	if !a.reading {
		a.reading = true
		go func() { a.lines <- a.read() }()
	}
	select {
	case got := <-a.lines:
		a.reading = false
		return a.answer(got)
	case <-ctx.Done():
		return agent.Approval{}, ctx.Err()
	}
}

// questionText formats a question for the terminal.
func questionText(q agent.Question) string {
	var b strings.Builder
	if q.Agent != "" {
		fmt.Fprintf(&b, "[%s] ", terminal.Escape(shorten.To(q.Agent, toolname.MaxDisplay)))
	}
	if q.Prompt == "" {
		b.WriteString(callText(q.Call))
	} else {
		for i, line := range strings.Split(shorten.Middle(q.Prompt, 2*maxShownArgs), "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(terminal.Escape(line))
		}
	}
	b.WriteByte('\n')
	if q.Reason != "" {
		fmt.Fprintf(&b, "Reason: %s\n", terminal.Escape(shorten.To(q.Reason, 400)))
	}
	b.WriteString("Allow? [y/N] ")
	return b.String()
}

// answer interprets a line.
func (a *Terminal) answer(got inputLine) (agent.Approval, error) {
	if got.err != nil && (!errors.Is(got.err, io.EOF) || strings.TrimSpace(got.text) == "") {
		return agent.Approval{}, fmt.Errorf("the answer could not be read: %w", got.err)
	}
	switch strings.ToLower(strings.TrimSpace(got.text)) {
	case "y", "yes":
		return agent.Approval{Allow: true}, nil
	}
	return agent.Approval{Reason: cmp.Or(a.DeclineText, "user declined")}, nil
}

// read reads one line and converts a panic of the reader into an error.
func (a *Terminal) read() inputLine {
	in, line, idle := cmp.Or[io.Reader](a.In, os.Stdin), a.buffer[:0], 0
	text, err := kit.Recover(func() (string, error) {
		for {
			var one [1]byte
			n, err := in.Read(one[:])
			if idle++; n > 0 {
				idle = 0
			} else if err == nil && idle > 100 {
				err = io.ErrNoProgress
			}
			if err != nil && n == 0 || n == 1 && one[0] == '\n' {
				return string(line), err
			}
			if len(line) == maxLine {
				line = append(line[:0], "too long"...)
			}
			line = append(line, one[:n]...)
			if err != nil {
				return string(line), err
			}
		}
	})
	return inputLine{text, err}
}
