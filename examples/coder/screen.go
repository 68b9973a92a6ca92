package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A terminal is the user. Tasks and answers to questions are lines of the same input.
type terminal struct {
	out   io.Writer
	lines chan string // closed at the end of the input

	streamed bool // the reply was shown in pieces
	attempt  int  // of the model at this reply
}

func newTerminal(in io.Reader, out io.Writer) *terminal {
	t := &terminal{out: out, lines: make(chan string)}
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

func (t *terminal) printf(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// show prints an event of a run.
func (t *terminal) show(e loop.Event) {
	switch e.Kind {
	case loop.EventStep:
		t.streamed, t.attempt = false, 1
	case loop.EventChunk:
		if e.Chunk.Attempt > t.attempt {
			t.attempt = e.Chunk.Attempt
			t.printf("\n[the model begins again]\n")
		}
		t.streamed = t.streamed || e.Chunk.Delta.Content != ""
		t.printf("%s", clean(e.Chunk.Delta.Content))
	case loop.EventReply:
		if !t.streamed {
			t.printf("%s", clean(e.Response.Content))
		}
		if e.Response.Content != "" {
			t.printf("\n")
		}
	case loop.EventCalling:
		t.printf("* %s\n", clean(title(*e.Call)))
	case loop.EventResult:
		switch {
		case e.Result.Err != "":
			t.printf("  %s\n", clean(shorten(e.Result.Err, 300)))
		case e.Result.Call.Name == "shell":
			t.printf("%s", indent(clean(e.Result.Output), 10))
		case e.Result.Call.Name == "edit" || e.Result.Call.Name == "write":
			t.printf("%s", indent(clean(e.Result.Output), 40))
		}
	case loop.EventCompacting:
		t.printf("[the conversation is long and is being summarized]\n")
	}
}

// budget prints the use of a task.
func (t *terminal) budget(r agent.AgentResult, limits loop.Limits) {
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
