package wireexec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
)

// A CommandCaller is a [wire.Caller] that starts its program for each request.
type CommandCaller struct{ caller }

// Command returns a caller for a program and its arguments. The program is looked up in PATH when it is started.
func Command(argv []string, opts ...Option) *CommandCaller {
	p := newProgram(argv, opts)
	return &CommandCaller{caller{p, func(ctx context.Context, q question) ([]byte, error) {
		input, err := json.Marshal(q)
		if err != nil {
			return nil, err
		}
		return p.run(ctx, append(input, '\n'))
	}}}
}

// Run starts a program once and returns its output and its exit status. Adapters to the protocols of other systems use
// it. The limits and the environment are those of [Command]. An error means that the program did not start, exceeded a
// limit or was killed; an exit status other than 0 is not an error.
func Run(ctx context.Context, argv []string, input []byte, opts ...Option) (output []byte, status int, err error) {
	output, err = newProgram(argv, opts).run(ctx, input)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return output, exit.ExitCode(), nil
	}
	if err != nil {
		return nil, 0, err
	}
	return output, 0, nil
}

// run starts the program, and returns its output, also if it ends with an error.
func (p *program) run(ctx context.Context, input []byte) (_ []byte, err error) {
	cmd, stderr, err := p.command()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = stderr.explain(err)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, fmt.Errorf("no reply within %v", p.timeout))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	output := &bounded{limit: p.maxBytes, full: func() {
		end(fmt.Errorf("the program wrote more than %d bytes", p.maxBytes))
	}}
	cmd.Stdin, cmd.Stdout = bytes.NewReader(input), output
	cmd.WaitDelay = grace // for children that keep the output open after the program ended
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
		killGroup(cmd)
	case <-ctx.Done():
		killTree(cmd)
		<-done
	}
	if ctx.Err() != nil { // also if the program ended at once; the part below the limit may be a whole reply
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // a child kept the output open; the program itself ended well
		err = nil
	}
	return output.buffer.Bytes(), err
}

// bounded is a buffer that calls full instead of growing beyond its limit.
type bounded struct {
	buffer bytes.Buffer // not embedded: its ReadFrom would know no limit
	limit  int
	full   func()
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.buffer.Len()+len(p) > b.limit {
		b.full()
		return len(p), nil
	}
	return b.buffer.Write(p)
}
