package main

import (
	"fmt"
	"time"
)

// A sign of life is the last line of a screen while the program waits. It says for what, and for how long.
type sign struct {
	what  string // "": the program does not wait, or waits for the user
	since time.Time
	drawn bool
	timer *time.Timer
}

// wait sets the text of the line from now on. The line appears after a second.
func (t *terminal) wait(what string) {
	if t.markup == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sign.what == "" || !t.sign.drawn {
		t.sign.since = time.Now()
	}
	t.sign.what = what
	if t.sign.timer == nil {
		t.sign.timer = time.AfterFunc(time.Second, t.tick)
	}
}

// rest removes the line, for example because the user is asked.
func (t *terminal) rest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	t.sign.what = ""
}

// tick draws the line again, once a second.
func (t *terminal) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	if t.sign.what == "" {
		t.sign.timer = nil
		return
	}
	if waited := time.Since(t.sign.since); waited >= time.Second {
		fmt.Fprintf(t.out, "… %s (%v)", t.sign.what, waited.Truncate(time.Second))
		t.sign.drawn = true
	}
	t.sign.timer.Reset(time.Second)
}

// erase removes the line from the screen. The caller holds the lock.
func (t *terminal) erase() {
	if t.sign.drawn {
		fmt.Fprint(t.out, "\r\x1b[K")
		t.sign.drawn = false
	}
}
