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
// Up to 64 requests are answered at a time, and the others wait. A line of more than [DefaultMaxBytes] ends the
// service. A request that cannot be read gets an error as its reply. ServeLines returns after the last reply is
// written. A program that serves lines must not print to standard output.
func ServeLines(r io.Reader, w io.Writer, h wire.Handler) error {
	ctx, end := context.WithCancelCause(context.Background())
	s := &lineServer{handler: h, out: json.NewEncoder(w), end: end}
	in := bufio.NewScanner(r)
	in.Buffer(nil, DefaultMaxBytes)
	free := make(chan struct{}, maxServed)
	for ctx.Err() == nil && in.Scan() {
		var q question
		if wrong := wire.UnmarshalRequest(ctx, in.Bytes(), &q); wrong != nil {
			if json.Unmarshal(in.Bytes(), &q) != nil || q.ID == nil {
				end(fmt.Errorf("the line %s is not a request: %w", excerpt(in.Bytes()), wrong))
				break
			}
			// One payload, such as arguments of a model that have a key twice, must not end the service for all.
			refusal := fmt.Sprintf("wire: the request cannot be read: %v", wrong)
			s.write(answer{ID: q.ID, Reply: wire.Reply{Error: refusal}}, nil)
			continue
		}
		free <- struct{}{}
		s.busy.Go(func() {
			defer func() { <-free }()
			s.answer(ctx, q)
		})
	}
	if err := in.Err(); err != nil {
		end(err)
	}
	s.busy.Wait()
	defer end(nil)
	return context.Cause(ctx)
}

// maxServed is how many requests are answered at a time.
const maxServed = 64

type lineServer struct {
	handler wire.Handler
	busy    sync.WaitGroup
	end     context.CancelCauseFunc // ends the service with the first error

	mu  sync.Mutex
	out *json.Encoder
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
	s.write(message, err)
}

// write writes a line, or ends the service with the error.
func (s *lineServer) write(message any, err error) {
	if err == nil {
		s.mu.Lock()
		err = s.out.Encode(message)
		s.mu.Unlock()
	}
	if err != nil {
		s.end(err)
	}
}
