package wireexec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A question is one line to the program: a request, or {"describe":true}.
type question struct {
	ID       *int64 `json:"id,omitempty"` // nil to a Command
	Describe bool   `json:"describe,omitempty"`
	*wire.Request
}

// An answer is one line of the program to a request.
type answer struct {
	ID *int64 `json:"id,omitempty"`
	wire.Reply
}

// A description is one line of the program to {"describe":true}.
type description struct {
	ID *int64 `json:"id,omitempty"`
	wire.Description
}

var errNoProgram = errors.New("no program to start; pass its name and arguments")

// A caller asks a program with the function ask, which returns the text of the answer.
type caller struct {
	*program
	ask func(context.Context, question) ([]byte, error)
}

// Describe implements [wire.Caller].
func (c *caller) Describe(ctx context.Context) (wire.Description, error) {
	text, err := c.ask(ctx, question{Describe: true})
	if err != nil {
		return wire.Description{}, err
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return wire.Description{}, fmt.Errorf("the program wrote %s instead of a description: %w", excerpt(text), err)
	}
	return d.Description, nil
}

// Call implements [wire.Caller].
func (c *caller) Call(ctx context.Context, request wire.Request) (wire.Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no reply within %v", c.timeout))
	defer cancel()
	request.SetWait(ctx)
	text, err := c.ask(ctx, question{Request: &request})
	if err != nil {
		return wire.Reply{}, err
	}
	var a answer
	if err := wire.UnmarshalReply(ctx, text, &a); err != nil {
		return wire.Reply{}, fmt.Errorf("the program wrote %s: %w", excerpt(text), err)
	}
	return a.Reply, nil
}

// excerpt quotes the beginning of a text.
func excerpt(text []byte) string {
	const limit = 200
	if len(text) > limit {
		return fmt.Sprintf("%q and %d bytes more", text[:limit], len(text)-limit)
	}
	return fmt.Sprintf("%q", text)
}

// A tail keeps the end of the text that is written to it.
type tail struct {
	copyTo io.Writer // nil for none

	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer]. Its errors are those of the copy; they would end the program, so they are ignored.
func (t *tail) Write(p []byte) (int, error) {
	const limit = 1 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.copyTo != nil {
		_, _ = t.copyTo.Write(p)
	}
	t.text = append(t.text, p[max(0, len(p)-limit):]...)
	if over := len(t.text) - limit; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// explain adds the text to an error.
func (t *tail) explain(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return fmt.Errorf("%w; it wrote to standard error: %q", err, text)
	}
	return err
}
