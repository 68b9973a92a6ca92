package wireexec

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A ProcessCaller is a [wire.Caller] for a program that answers many requests. It starts the program at the first
// request, and again at the next request after the program ended.
//
// If the program breaks the rules, all requests that wait for it fail, and the program is killed: if it writes anything
// that is not a reply, for example a log line, or replies to what nobody asked.
//
// A program that does not answer within the time limit may hang. The next request starts another one, and the first one
// is killed as soon as no other request waits for it. A request whose run was cancelled harms no other request; a
// program that leaves many of those unanswered is killed, too.
type ProcessCaller struct {
	caller

	mu      sync.Mutex
	started []*process // the last one gets new requests, if it is serving; those that have ended may be missing
	closed  bool
}

// Process returns a caller for a program and its arguments. Call Close to end the program.
func Process(argv []string, opts ...Option) *ProcessCaller {
	c := &ProcessCaller{}
	c.caller = caller{newProgram(argv, opts), c.askLine}
	return c
}

// Close ends the program. Requests that wait for it fail. A later request is an error.
func (c *ProcessCaller) Close() error {
	c.mu.Lock()
	all := c.started
	c.started, c.closed = nil, true
	c.mu.Unlock()
	for _, p := range all {
		p.end(errClosed)
		<-p.gone
	}
	return nil
}

var errClosed = errors.New("the caller is closed")

// askLine sends one line, and returns the line that answers it.
func (c *ProcessCaller) askLine(ctx context.Context, q question) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no reply within %v", c.timeout))
	defer cancel()
	for {
		p, err := c.running()
		if err != nil {
			return nil, err
		}
		text, err := p.ask(ctx, q)
		if errors.Is(err, errRetired) {
			continue // the line was not sent
		}
		p.asked(err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded), err)
		return text, err
	}
}

var errRetired = errors.New("the program is being replaced")

// running returns the process that is serving, a new one if necessary.
func (c *ProcessCaller) running() (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	c.started = slices.DeleteFunc(c.started, func(p *process) bool { return p.now() == ending })
	if n := len(c.started); n > 0 && c.started[n-1].now() == serving {
		return c.started[n-1], nil
	}
	p, err := c.start()
	if err == nil {
		c.started = append(c.started, p)
	}
	return p, err
}

// start starts the program, and the goroutines that write its input and read its output.
func (c *ProcessCaller) start() (*process, error) {
	cmd, stderr, err := c.command()
	if err != nil {
		return nil, err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, output, err := os.Pipe() // not StdoutPipe: Wait would close it before the last replies are read
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.WaitDelay = output, grace
	err = cmd.Start()
	_ = output.Close() // the end of the program
	if err != nil {
		_ = stdin.Close()
		_ = stdout.Close()
		return nil, err
	}
	p := &process{
		cmd:       cmd,
		stderr:    stderr,
		stdout:    stdout,
		input:     make(chan []byte),
		over:      make(chan struct{}),
		gone:      make(chan struct{}),
		waiting:   map[int64]chan<- []byte{},
		abandoned: map[int64]bool{},
	}
	go p.write(stdin)
	go p.wait(c.maxBytes)
	return p, nil
}

// grace is how long the output of a program is read after it ended.
const grace = 100 * time.Millisecond

// staying is how long a program may run after it closed its output. It is a variable for tests.
var staying = 100 * time.Millisecond

// maxAbandoned is how many requests a program can leave unanswered before it is killed.
const maxAbandoned = 64

// A process is one start of the program.
type process struct {
	cmd    *exec.Cmd
	stderr *tail
	stdout *os.File
	input  chan []byte   // lines for its standard input
	over   chan struct{} // closed when it is ending
	gone   chan struct{} // closed when it is reaped
	lastID atomic.Int64

	mu        sync.Mutex
	state     state
	cause     error                   // why it is retiring or ending; nil while it is serving
	waiting   map[int64]chan<- []byte // the requests without an answer; each channel has room for it
	abandoned map[int64]bool          // the requests that were given up; their answers are dropped
	unread    int                     // the requests that were given up since it last read one
}

// The states of a process, one after the other.
type state int

const (
	serving  state = iota // it gets the requests
	retiring              // it let the time of a request pass: it gets no others, and ends when nobody waits for it
	ending                // it was killed or has ended; its requests fail
)

// now returns the state.
func (p *process) now() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// asked notes the end of a request, and whether it was late.
func (p *process) asked(late bool, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if late && p.state == serving {
		p.state, p.cause = retiring, cause
	}
	if p.state == retiring && len(p.waiting) == 0 {
		p.kill(p.cause)
	}
}

// end kills the program, for the first cause that is given.
func (p *process) end(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kill(cause)
}

// kill is end for a caller that holds mu.
func (p *process) kill(cause error) {
	if p.state != ending {
		p.state, p.cause = ending, cause
		close(p.over)
		killTree(p.cmd)
	}
}

func (p *process) ask(ctx context.Context, q question) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	id := p.lastID.Add(1)
	q.ID = &id
	line, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	if len(line) > DefaultMaxBytes { // ServeLines would end, with all requests that it answers at the time
		return nil, fmt.Errorf("%w: it has %d bytes, and a program reads up to %d",
			wire.ErrRefused, len(line), DefaultMaxBytes)
	}
	answered := make(chan []byte, 1)
	p.mu.Lock()
	if p.state == retiring {
		p.mu.Unlock()
		return nil, errRetired
	}
	p.waiting[id] = answered
	p.mu.Unlock()
	input, sent := p.input, false
	for {
		select {
		case input <- line:
			input, sent = nil, true
		case text := <-answered:
			return text, nil
		case <-ctx.Done():
			p.abandon(id, sent)
			return nil, context.Cause(ctx)
		case <-p.over:
			select {
			case text := <-answered: // it answered, and then ended
				return text, nil
			default:
				return nil, p.failure(ctx)
			}
		}
	}
}

// failure waits until the program has ended, and returns the reason with the end of its standard error.
func (p *process) failure(ctx context.Context) error {
	select {
	case <-p.gone:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return p.stderr.explain(p.cause)
}

// abandon gives a request up. The program may still answer a request that was sent, or have answered it in this moment.
func (p *process) abandon(id int64, sent bool) {
	p.mu.Lock()
	_, unanswered := p.waiting[id]
	delete(p.waiting, id)
	switch {
	case !sent:
		p.unread++
	case unanswered:
		p.abandoned[id] = true
	}
	stuck := len(p.abandoned)+p.unread > maxAbandoned
	p.mu.Unlock()
	if stuck {
		p.end(fmt.Errorf("the program left more than %d requests unanswered", maxAbandoned))
	}
}

// write sends the lines to the program.
func (p *process) write(stdin io.WriteCloser) {
	defer stdin.Close()
	for {
		select {
		case line := <-p.input:
			if _, err := stdin.Write(line); err != nil {
				p.end(fmt.Errorf("the program does not read its input: %w", err))
				return
			}
			p.mu.Lock()
			p.unread = 0
			p.mu.Unlock()
		case <-p.over:
			return
		}
	}
}

// wait reads the replies of the program until it ends, and then reaps it. A child that left the process group can keep
// the output open after that, so that the output has no end. It is closed soon after the end of the program.
func (p *process) wait(maxBytes int) {
	delivered := make(chan struct{})
	go func() {
		defer close(delivered)
		p.read(maxBytes)
	}()
	status := p.cmd.Wait()
	killGroup(p.cmd)
	select {
	case <-delivered:
	case <-time.After(grace):
	}
	if status == nil || errors.Is(status, exec.ErrWaitDelay) {
		status = errors.New("exit status 0")
	}
	ended := fmt.Errorf("the program ended: %w", status)
	p.end(ended)
	p.mu.Lock()
	if errors.Is(p.cause, errStays) && p.cmd.ProcessState.Exited() { // its end took long on a busy machine
		p.cause = ended
	}
	p.mu.Unlock()
	_ = p.stdout.Close()
	close(p.gone)
}

var errStays = errors.New("the program closed its standard output and did not end")

// read delivers the lines of the program until the end of its output.
func (p *process) read(maxBytes int) {
	lines := bufio.NewScanner(p.stdout)
	lines.Buffer(nil, maxBytes)
	var wrong error
	for wrong == nil && lines.Scan() {
		wrong = p.deliver(bytes.Clone(lines.Bytes()))
	}
	switch err := lines.Err(); {
	case wrong != nil:
		p.end(wrong)
	case errors.Is(err, bufio.ErrTooLong):
		p.end(fmt.Errorf("the program wrote a line of more than %d bytes", maxBytes))
	case err != nil:
		p.end(err)
	}
	// At the end of its output, the program is about to end. If it continues, it will never reply again.
	time.AfterFunc(staying, func() { p.end(errStays) })
}

// deliver passes one line of the program to the request that it answers.
func (p *process) deliver(line []byte) error {
	var id struct {
		ID *int64 `json:"id"`
	}
	if err := json.Unmarshal(line, &id); err != nil || id.ID == nil {
		return fmt.Errorf("the program wrote %s; each line must be a JSON object with the id of a request. "+
			"Write logs to standard error", excerpt(line))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.abandoned[*id.ID] {
		delete(p.abandoned, *id.ID)
		return nil
	}
	to := p.waiting[*id.ID]
	if to == nil {
		return fmt.Errorf("the program replied to the id %d, which waits for no reply: %s", *id.ID, excerpt(line))
	}
	delete(p.waiting, *id.ID)
	to <- line
	return nil
}
