package wireexec

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
)

// A reply can arrive in the moment of the time limit. A program that replied each time is not killed for silence.
func TestRepliesAtTheLimitCount(t *testing.T) {
	p := &process{
		cmd: &exec.Cmd{}, over: make(chan struct{}), waiting: map[int64]chan<- []byte{}, abandoned: map[int64]bool{},
	}
	for id := range int64(2 * maxAbandoned) {
		p.waiting[id] = make(chan []byte, 1)
		if err := p.deliver(fmt.Appendf(nil, `{"id":%d}`, id)); err != nil {
			t.Fatal(err)
		}
		p.abandon(id, true)
	}
	if len(p.abandoned) > 0 || p.now() != serving {
		t.Errorf("%d requests count as unanswered: %v", len(p.abandoned), p.cause)
	}
}

// A process that let the time of a request pass gets no others, and ends with the last one that waits for it.
func TestStatesOfAProcess(t *testing.T) {
	late, crash := errors.New("late"), errors.New("crash")
	p := &process{cmd: &exec.Cmd{}, over: make(chan struct{}), waiting: map[int64]chan<- []byte{1: nil}}
	p.asked(false, nil)
	if p.now() != serving {
		t.Errorf("after a reply the state is %v", p.now())
	}
	p.asked(true, late)
	p.asked(true, errors.New("later"))
	if _, err := p.ask(t.Context(), question{}); p.now() != retiring || !errors.Is(err, errRetired) {
		t.Errorf("while a request waits, the state is %v, and another request gets %v", p.now(), err)
	}
	delete(p.waiting, 1)
	p.asked(false, nil)
	p.end(crash)
	p.asked(true, crash)
	if p.now() != ending || !errors.Is(p.cause, late) {
		t.Errorf("at the end the state is %v because of %v", p.now(), p.cause)
	}
	<-p.over
	other := &process{cmd: &exec.Cmd{}, over: make(chan struct{}), waiting: map[int64]chan<- []byte{1: nil}}
	other.asked(true, late)
	other.end(crash)
	if !errors.Is(other.cause, crash) {
		t.Errorf("a process that crashes while it is retiring ended because of %v", other.cause)
	}
}
