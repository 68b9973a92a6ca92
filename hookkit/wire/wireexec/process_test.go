package wireexec

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
)

// A reply can arrive in the moment of the time limit. A program that replied each time is not killed for silence.
func TestRepliesAtTheLimitCount(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := &process{
		cmd: &exec.Cmd{}, ctx: ctx, cancel: cancel, waiting: map[int64]chan<- []byte{}, abandoned: map[int64]bool{},
	}
	for id := range int64(2 * maxAbandoned) {
		p.waiting[id] = make(chan []byte, 1)
		if err := p.deliver(fmt.Appendf(nil, `{"id":%d}`, id)); err != nil {
			t.Fatal(err)
		}
		p.abandon(id, true)
	}
	if len(p.abandoned) > 0 || ctx.Err() != nil {
		t.Errorf("%d requests count as unanswered: %v", len(p.abandoned), context.Cause(ctx))
	}
}
