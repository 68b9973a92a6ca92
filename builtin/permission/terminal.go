package permission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/terminal"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
)

// Terminal asks the person at a terminal. It is an approver for a loop, not a hook.
//
// It writes the question and reads one line: "y" and "yes", in any case, approve; everything else declines, and
// so does the end of input. If In or Out fails, the question counts as not answered, and the loop declines.
//
// Questions of parallel runs are asked one after the other. When the context is done before the answer, Approve
// returns; a line that is typed before the next question is dropped and never taken for its answer. In is read
// byte by byte and no further than to the end of the line, so a program can go on reading it itself. A read that
// waits for a line cannot be ended: one goroutine stays in it until the line comes.
//
// A Terminal must not be copied. It is safe for concurrent use.
type Terminal struct {
	In          io.Reader // nil: the standard input
	Out         io.Writer // nil: the standard error
	DeclineText string    // the reason of a no. "": "user declined"

	once    sync.Once
	turn    chan struct{}  // holds one token: who takes it may ask
	lines   chan typed     // the line that is being read
	reading bool           // there is a line being read; belongs to who has the token
	line    [maxTyped]byte // buffer of the reader
}

// A typed is a line that was read, or why none was.
type typed struct {
	text string
	err  error
}

// maxTyped bounds what is kept of a line. No yes is that long.
const maxTyped = 256

// Approve asks a question and waits for the answer.
func (a *Terminal) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	if err := ctx.Err(); err != nil {
		return agent.Approval{}, err
	}
	a.once.Do(func() { a.turn, a.lines = make(chan struct{}, 1), make(chan typed, 1) })
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return agent.Approval{}, ctx.Err()
	}
	if a.reading {
		select {
		case <-a.lines: // typed before this question
			a.reading = false
		default:
		}
	}
	if _, err := io.WriteString(a.out(), questionText(q)); err != nil {
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

// questionText is what is written for a question.
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

// answer makes an approval of what was typed.
func (a *Terminal) answer(got typed) (agent.Approval, error) {
	if got.err != nil && !errors.Is(got.err, io.EOF) {
		return agent.Approval{}, fmt.Errorf("the answer could not be read: %w", got.err)
	}
	switch strings.ToLower(strings.TrimSpace(got.text)) {
	case "y", "yes":
		return agent.Approval{Allow: true}, nil
	}
	reason := a.DeclineText
	if reason == "" {
		reason = "user declined"
	}
	return agent.Approval{Reason: reason}, nil
}

// read reads one line. A panic of the reader is an error.
func (a *Terminal) read() (got typed) {
	defer func() {
		if v := recover(); v != nil {
			got = typed{err: fmt.Errorf("the reader panicked: %v", v)}
		}
	}()
	in := a.in()
	kept := a.line[:0]
	var one [1]byte
	idle := 0
	for {
		n, err := in.Read(one[:])
		if idle++; n > 0 {
			idle = 0
		} else if err == nil && idle > 100 {
			err = io.ErrNoProgress
		}
		switch {
		case n == 1 && one[0] == '\n':
			return typed{text: string(kept)}
		case n == 1:
			if len(kept) == maxTyped {
				kept = append(kept[:0], "too long"...)
			}
			kept = append(kept, one[0])
		}
		if err != nil {
			return typed{string(kept), err}
		}
	}
}

func (a *Terminal) in() io.Reader {
	if a.In == nil {
		return os.Stdin
	}
	return a.In
}

func (a *Terminal) out() io.Writer {
	if a.Out == nil {
		return os.Stderr
	}
	return a.Out
}
