package wireexec

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// ServeLines answers the requests on r with replies on w until r ends, or a line is not a request. It is the whole of a
// hook program in Go:
//
//	err := wireexec.ServeLines(os.Stdin, os.Stdout, agent.Serve(&hooks, nil))
//
// Requests are answered concurrently. ServeLines returns after the last reply is written. A program that serves lines
// must not print to standard output.
func ServeLines(r io.Reader, w io.Writer, h wire.Handler) error {
	ctx, cancel := context.WithCancel(context.Background())
	s := &lineServer{handler: h, out: json.NewEncoder(w), fail: cancel}
	in := bufio.NewReader(r)
	for ctx.Err() == nil {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var q question
			if wrong := json.Unmarshal(line, &q); wrong != nil {
				s.failed(fmt.Errorf("the line %s is not a request: %w", excerpt(line), wrong))
				break
			}
			s.busy.Go(func() { s.answer(ctx, q) })
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.failed(err)
		}
	}
	s.busy.Wait()
	cancel()
	return s.err
}

type lineServer struct {
	handler wire.Handler
	busy    sync.WaitGroup
	fail    func()

	mu  sync.Mutex
	out *json.Encoder
	err error // the first one
}

// failed remembers the first error, and ends the service.
func (s *lineServer) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.fail()
}

func (s *lineServer) answer(ctx context.Context, q question) {
	var message any
	var err error
	switch {
	case q.Describe:
		d := description{ID: q.ID}
		d.Description, err = s.handler.Describe(ctx)
		message = d
	case q.Request == nil:
		err = errors.New("a line is neither a request nor a question for the description")
	default:
		a := answer{ID: q.ID}
		a.Reply, err = s.handler.Call(ctx, *q.Request)
		message = a
	}
	if err == nil {
		s.mu.Lock()
		err = s.out.Encode(message)
		s.mu.Unlock()
	}
	if err != nil {
		s.failed(err)
	}
}
