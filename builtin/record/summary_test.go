package record_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestSummaryIsReplacedByEachRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	clock := looptest.NewClock(time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC))
	var ran *looptest.Ran
	for _, task := range []string{"first\n# not a heading", "second, password=hunter2"} {
		ran = looptest.Harness{
			Agent: &loop.Agent{Clock: clock},
			Turns: []looptest.Turn{looptest.Call("look", `{"at":"x"}`), looptest.Reply("A *fine* reply.")},
			Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: "a door"}},
			Hooks: []agent.Hook{&record.Summary{Dir: dir}},
		}.Do(t, t.Context(), loop.Request{Task: task, Conversation: "../a b", User: "ann"})
	}
	got := string(fixture.ReadFile(t, filepath.Join(dir, "-", "ann", "%2e%2e%2fa%20b.md")))
	want := `# ../a b, 2026-01-02 03:04 UTC

Run ` + ran.Recorder.Fires()[0].Run + ` of the user ann

## Last messages

- user: second, password=[REDACTED]
- assistant: look({"at":"x"})
- tool: a door
- assistant: A *fine* reply.

## Final reply

A *fine* reply.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLongSummaryKeepsReplyAndNewestMessages(t *testing.T) {
	dir := t.TempDir()
	var messages []agent.Message
	for i := range 30 {
		messages = append(messages,
			agent.Message{Role: agent.RoleUser, Content: fmt.Sprint("number ", i, " ", strings.Repeat("ä", 400))})
	}
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply(strings.Repeat("z", 5000))},
		Hooks: []agent.Hook{&record.Summary{Dir: dir}}}.
		Do(t, t.Context(), loop.Request{Task: "last", Messages: messages, Conversation: "c"})
	text := string(fixture.ReadFile(t, filepath.Join(dir, "c.md")))
	if n := utf8.RuneCountInString(text); n > 2000 || n < 1700 {
		t.Errorf("it has %d characters", n)
	}
	if !strings.HasSuffix(text, "\n"+strings.Repeat("z", 599)+"…\n") || !strings.Contains(text, "- user: last\n") ||
		!strings.Contains(text, "number 29") || strings.Contains(text, "number 20") {
		t.Errorf("text:\n%s", text)
	}
}

func TestSummaryNeedsANamedConversation(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	dir := t.TempDir()
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("x")}, Hooks: []agent.Hook{&record.Summary{Dir: dir}}}.
		Run(t, "go")
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("files: %v", entries)
	}
	if n := strings.Count(log.String(), "has no name"); n != 1 {
		t.Errorf("%d warnings: %s", n, log.String())
	}
	fixture.MustPanic(t, "Dir is empty", func() { new(agent.Hooks).Use(&record.Summary{}) })
}

func ExampleSummary() {
	dir, _ := os.MkdirTemp("", "summaries")
	defer os.RemoveAll(dir)
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Reply("Take the 9:04.")),
		Clock: looptest.NewClock(time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)),
		Hooks: loop.Hooks(&record.Summary{Dir: dir}),
	}
	_, _ = a.Do(context.Background(), loop.Request{Task: "When does the train leave?", Conversation: "trains"})
	page, _ := os.ReadFile(filepath.Join(dir, "trains.md"))
	fmt.Print(regexp.MustCompile("Run [0-9a-f]+").ReplaceAllString(string(page), "Run 5f3a9c27"))
	// Output:
	// # trains, 2026-01-02 03:04 UTC
	//
	// Run 5f3a9c27
	//
	// ## Last messages
	//
	// - user: When does the train leave?
	// - assistant: Take the 9:04.
	//
	// ## Final reply
	//
	// Take the 9:04.
}
