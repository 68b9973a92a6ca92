package wireexec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

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
	output, stderr, err := c.start(ctx, append(input, '\n'))
	if err != nil {
		return nil, stderr.explain(err)
	}
	return output, nil
}

// Run starts a program once and returns its output and its exit status. Adapters to the protocols of other systems use
// it. The limits and the environment are those of [Command]. An error means that the program did not start, exceeded a
// limit or was killed; an exit status other than 0 is not an error.
func Run(ctx context.Context, argv []string, input []byte, opts ...Option) (output []byte, status int, err error) {
	p := newProgram(argv, opts)
	output, stderr, err := p.start(ctx, input)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return output, exit.ExitCode(), nil
	}
	if err != nil {
		return nil, 0, stderr.explain(err)
	}
	return output, 0, nil
}

// start starts the program, and returns its output and the end of its standard error, also if it ends with an error.
func (p *program) start(ctx context.Context, input []byte) ([]byte, *tail, error) {
	cmd, stderr, err := p.command()
	if err != nil {
		return nil, &tail{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, fmt.Errorf("no reply within %v", p.timeout))
	defer cancel()
	output := &bounded{limit: p.maxBytes, full: make(chan struct{})}
	cmd.Stdin, cmd.Stdout = bytes.NewReader(input), output
	cmd.WaitDelay = grace // for children that keep the output open after the program ended
	if err := cmd.Start(); err != nil {
		return nil, stderr, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
		killGroup(cmd)
	case <-ctx.Done():
		killTree(cmd)
		<-done
		return nil, stderr, context.Cause(ctx)
	case <-output.full:
		killTree(cmd)
		<-done
	}
	if output.over { // also if the program ended at once; the part below the limit may be a whole reply
		return nil, stderr, fmt.Errorf("the program wrote more than %d bytes", p.maxBytes)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // a child kept the output open; the program itself ended well
		err = nil
	}
	return output.buffer.Bytes(), stderr, err
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
