package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/charmbracelet/glamour"
	"golang.org/x/term"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A terminal is the user. Tasks and answers to questions are lines of the same input.
//
// On a screen, a reply is shown when it is complete, as its Markdown says, and until then a line says that the program
// waits. In a file or a pipe there is the text alone, piece by piece.
type terminal struct {
	lines   chan string // closed at the end of the input
	verbose bool
	markup  *glamour.TermRenderer // nil: the output is no screen

	streamed bool // the reply was shown in pieces
	attempt  int  // of the model at this reply
	words    int  // of this attempt so far

	mu    sync.Mutex
	out   io.Writer
	sign  sign
	asked map[string]bool // the calls whose difference the user has seen, by ID
}

func newTerminal(in io.Reader, out io.Writer) *terminal {
	t := &terminal{out: out, lines: make(chan string), asked: make(map[string]bool)}
	if screen, ok := out.(*os.File); ok && term.IsTerminal(int(screen.Fd())) {
		width, _, err := term.GetSize(int(screen.Fd()))
		if err != nil {
			width = 80
		}
		t.markup = markup(width)
	}
	go func() {
		defer close(t.lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, 1<<20) // a task can be pasted
		for s.Scan() {
			t.lines <- strings.TrimSpace(s.Text())
		}
	}()
	return t
}

// read returns the next line, or io.EOF.
func (t *terminal) read(ctx context.Context) (string, error) {
	select {
	case line, ok := <-t.lines:
		if !ok {
			return "", io.EOF
		}
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// printf prints a text. The line about the wait is removed, and comes again after a second.
func (t *terminal) printf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	fmt.Fprintf(t.out, format, args...)
}

// show prints an event of a run.
func (t *terminal) show(e loop.Event) {
	switch e.Kind {
	case loop.EventStep:
		t.streamed, t.attempt, t.words = false, 1, 0
		t.wait("the model thinks")
	case loop.EventChunk:
		if e.Chunk.Attempt > t.attempt {
			t.attempt, t.words = e.Chunk.Attempt, 0
			t.printf("\n[the model begins again]\n")
		}
		if t.markup != nil {
			t.words += strings.Count(e.Chunk.Delta.Content, " ")
			t.wait(fmt.Sprintf("the model writes, %d words", t.words))
			return
		}
		t.streamed = t.streamed || e.Chunk.Delta.Content != ""
		t.printf("%s", clean(e.Chunk.Delta.Content))
	case loop.EventReply:
		t.reply(e.Response.Content)
	case loop.EventFailed:
		t.printf("[%s]\n", clean(shorten(e.Failed.Err, 300)))
	case loop.EventWaiting:
		t.wait("the next attempt is in " + e.Wait.Round(time.Second).String())
	case loop.EventAsking, loop.EventEnd:
		t.rest()
	case loop.EventCalling:
		t.printf("* %s\n", clean(title(*e.Call)))
		t.wait(clean(shorten(title(*e.Call), 60)) + " runs")
	case loop.EventResult:
		t.result(*e.Result)
		t.wait("the model thinks")
	case loop.EventCompacting:
		t.printf("[the conversation is long and is being summarized]\n")
		t.wait("the summary is written")
	}
}

// reply prints a reply that may have been shown in pieces.
func (t *terminal) reply(text string) {
	switch text = clean(text); {
	case text == "":
	case t.streamed:
		t.printf("\n")
	case t.markup != nil:
		if shown, ok := t.rendered(text); ok {
			t.printf("%s\n", shown)
			return
		}
		fallthrough
	default:
		t.printf("%s\n", text)
	}
}

// result prints the interesting part of a result: an error, a difference that was not shown in a question, and
// the first lines of a command.
func (t *terminal) result(r agent.ToolCallResult) {
	lines := map[string]int{"shell": 3, "edit": 40, "write": 40}
	if t.verbose {
		lines["shell"], lines["read"], lines["list"], lines["search"] = 40, 10, 10, 10
	}
	t.mu.Lock()
	seen := t.asked[r.Call.ID] && r.Call.Name != "shell"
	delete(t.asked, r.Call.ID)
	t.mu.Unlock()
	switch most := lines[r.Call.Name]; {
	case r.Err != "":
		t.printf("  %s\n", clean(shorten(r.Err, 300)))
	case most > 0 && r.Output != "" && (!seen || t.verbose):
		t.printf("%s", indent(clean(r.Output), most))
	}
}

// asks notes that the user is asked about a call.
func (t *terminal) asks(id string) {
	t.rest()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[id] = true
}

// budget prints the use of a task that did not complete, or of each one if the user wants to know.
func (t *terminal) budget(r agent.AgentResult, limits loop.Limits) {
	if !t.verbose && r.Stop.Cause == agent.CauseCompleted {
		return
	}
	cost := "unknown"
	if r.Usage.Cost > 0 {
		cost = fmt.Sprintf("%.4f", r.Usage.Cost)
	}
	t.printf("[steps: %d, tokens: %d of %d, cost: %s", r.Steps, r.Usage.Input+r.Usage.Output, limits.Tokens, cost)
	if r.Stop.Cause != agent.CauseCompleted {
		t.printf(", stopped: %s", r.Stop.Cause)
	}
	t.printf("]\n")
}

// title describes a call in a line.
func title(call agent.ToolCallRequest) string {
	var args struct{ Path, Command, Pattern string }
	if json.Unmarshal(call.Args, &args) != nil {
		return call.Name
	}
	words := []string{call.Name}
	for _, word := range []string{args.Command, args.Pattern, args.Path} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// indent returns the first lines of a text, indented.
func indent(text string, most int) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(&b, "  [%d more lines]\n", len(lines)-i)
			break
		}
		fmt.Fprintf(&b, "  %s\n", shorten(line, 160))
	}
	return b.String()
}

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// clean drops the characters with which a file or a model could command the terminal or disguise a text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, s)
}
