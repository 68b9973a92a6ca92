package wireexec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A CommandCaller is a [wire.Caller] that starts its program for each request.
type CommandCaller struct{ program }

// Command returns a caller for a program and its arguments. The program is looked up in PATH when it is started.
func Command(argv []string, opts ...Option) *CommandCaller {
	return &CommandCaller{newProgram(argv, opts)}
}

// Describe implements [wire.Caller].
func (c *CommandCaller) Describe(ctx context.Context) (wire.Description, error) {
	text, err := c.run(ctx, question{Describe: true})
	if err != nil {
		return wire.Description{}, err
	}
	return readDescription(text)
}

// Call implements [wire.Caller].
func (c *CommandCaller) Call(ctx context.Context, request wire.Request) (wire.Reply, error) {
	text, err := c.run(ctx, question{Request: &request})
	if err != nil {
		return wire.Reply{}, err
	}
	var reply wire.Reply
	if err := wire.Unmarshal(text, &reply); err != nil {
		return wire.Reply{}, fmt.Errorf("the program wrote %s: %w", excerpt(text), err)
	}
	return reply, nil
}

// run starts the program, and returns its output.
func (c *CommandCaller) run(ctx context.Context, q question) ([]byte, error) {
	input, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	cmd, stderr, err := c.command()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no reply within %v", c.timeout))
	defer cancel()
	output := &bounded{limit: c.maxBytes, full: make(chan struct{})}
	cmd.Stdin, cmd.Stdout = bytes.NewReader(append(input, '\n')), output
	cmd.WaitDelay = 100 * time.Millisecond // for children that keep the output open after the program ended
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
		killGroup(cmd)
	case <-ctx.Done():
		killGroup(cmd)
		<-done
		return nil, stderr.explain(context.Cause(ctx))
	case <-output.full:
		killGroup(cmd)
		<-done
		return nil, stderr.explain(fmt.Errorf("the program wrote more than %d bytes", c.maxBytes))
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // a child kept the output open; the program itself ended well
		return nil, stderr.explain(err)
	}
	return output.buffer.Bytes(), nil
}

// bounded is a buffer that closes full instead of growing beyond its limit.
type bounded struct {
	buffer bytes.Buffer // not embedded: its ReadFrom would know no limit
	limit  int
	full   chan struct{}
	over   bool
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	switch {
	case b.over:
	case b.buffer.Len()+len(p) > b.limit:
		b.over = true
		close(b.full)
	default:
		return b.buffer.Write(p)
	}
	return len(p), nil
}
