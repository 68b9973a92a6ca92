// Package progress shows the progress of a slow command: one line on a terminal, which is rewritten, and removed at the
// end. Start with [Start].
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/internal/terminal"
)

// Delay is the time that a command is silent, and interval the time between two lines.
const (
	Delay    = 2 * time.Second
	interval = 200 * time.Millisecond
)

// columns is the largest length of a line, so that no terminal wraps it.
const columns = 78

// A Line is the line of progress of one command. Its methods may be called by several goroutines. A nil Line shows
// nothing.
type Line struct {
	mu      sync.Mutex
	w       io.Writer
	command string
	text    func() string
	shown   int  // characters
	within  bool // the last output does not end with a line break
	stopped bool
	done    chan struct{}
	ended   sync.WaitGroup
}

// Start shows the command's name and its work, after a delay and until Stop is called, if w is a terminal.
// Otherwise it returns nil. Nothing is shown before [Line.Set].
func Start(w io.Writer, command string) *Line {
	if !terminal.IsTerminal(w) {
		return nil
	}
	l := &Line{w: w, command: command, done: make(chan struct{})}
	l.ended.Go(func() {
		next := time.NewTimer(Delay)
		defer next.Stop()
		for {
			select {
			case <-l.done:
				return
			case <-next.C:
				l.show()
				next.Reset(interval)
			}
		}
	})
	return l
}

// Set sets the function that describes the work. Another goroutine calls it, which holds the lock of l.
func (l *Line) Set(text func() string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

// Stop removes the line. Nothing is shown after it.
func (l *Line) Stop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.ended.Wait()
	defer l.mu.Unlock()
	if !l.stopped {
		l.stopped = true
		l.clear()
		close(l.done)
	}
}

// Writer returns a writer for output that may appear on the same terminal: the line is removed before it. It returns w
// for a nil Line.
func (l *Line) Writer(w io.Writer) io.Writer {
	if l == nil {
		return w
	}
	return output{l, w}
}

type output struct {
	l *Line
	w io.Writer
}

func (o output) Write(p []byte) (int, error) {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	o.l.clear()
	if len(p) > 0 {
		o.l.within = p[len(p)-1] != '\n' && terminal.IsTerminal(o.w)
	}
	return o.w.Write(p)
}

// IsTerminal reports whether the output is a terminal.
func (o output) IsTerminal() bool { return terminal.IsTerminal(o.w) }

// show replaces the line.
func (l *Line) show() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped || l.within || l.text == nil {
		return
	}
	l.clear()
	runes := []rune(terminal.Escape(l.command + ": " + l.text()))
	runes = runes[:min(len(runes), columns)]
	l.shown = len(runes)
	_, _ = io.WriteString(l.w, string(runes)) // the work does not depend on it
}

// clear removes the line with blanks, which every terminal understands.
func (l *Line) clear() {
	if l.shown > 0 {
		_, _ = io.WriteString(l.w, "\r"+strings.Repeat(" ", l.shown)+"\r") // as in show
		l.shown = 0
	}
}

// Bytes describes how much of something was read, for example "12 of 300 MB, 4 %".
func Bytes(read, size int64) string {
	const mega = 1 << 20
	if size <= 0 {
		return fmt.Sprintf("%d MB", read/mega)
	}
	read = min(read, size)
	return fmt.Sprintf("%d of %d MB, %d %%", read/mega, size/mega, int64(float64(read)/float64(size)*100))
}
