package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

type plainTalk struct{ messages []agent.Message }

func (plainTalk) ID() string { return "" }

func (p plainTalk) Messages() []agent.Message { return p.messages }

func talk(lines ...string) []agent.Message {
	var messages []agent.Message
	for _, line := range lines {
		role, text, _ := strings.Cut(line, ": ")
		messages = append(messages, agent.Message{Role: agent.Role(role), Content: text})
	}
	return messages
}

func endOf(t testing.TB, hooks *agent.Hooks, clock agent.Clock, messages []agent.Message) {
	t.Helper()
	hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(&agent.Env{Conversation: plainTalk{messages}, Clock: clock}),
		agent.AgentResult{})
}

var factTalk = talk("user: Hello there, my friend", "assistant: Hello.",
	"user: Please remember that I like window seats. And tea.",
	"user: Can you book the train?", "assistant: Done. The booking is saved at https://rail.example.org/b/17.",
	"user: thanks", "user: note that", "tool: always failed at /etc/passwd/x")

func TestExtractFindsFacts(t *testing.T) {
	want := []memory.Extracted{
		{Kind: "remember", Text: "Please remember that I like window seats."},
		{Kind: "request", Text: "Can you book the train?"},
		{Kind: "outcome", Text: "The booking is saved at https://rail.example.org/b/17."},
		{Kind: "address", Text: "https://rail.example.org/b/17"},
	}
	if got := memory.Extract(factTalk); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := memory.Extract(talk("user: fix it", "assistant: done")); got != nil {
		t.Errorf("short texts: %+v", got)
	}
}

func TestExtractorStoresEachFactOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	remembered := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	extractor := &memory.Extractor{Store: remembered}
	hooks.Use(extractor)
	hooks.Use(extractor)
	endOf(t, &hooks, nil, factTalk)
	endOf(t, &hooks, nil, factTalk)
	facts, _, _ := remembered.Search(t.Context(), memory.Query{})
	if len(facts) != 4 || facts[3].Source != "conversation" || !strings.HasPrefix(facts[3].Key, "remember-") ||
		facts[3].Value != "Please remember that I like window seats." {
		t.Errorf("facts: %+v", facts)
	}
	endOf(t, &hooks, nil, talk("user: please remember the milk"))
	if again, _, _ := remembered.Search(t.Context(), memory.Query{}); len(again) != 4 {
		t.Errorf("a task without a reply was looked at: %+v", again)
	}
	endOf(t, &hooks, nil, talk("user: please remember the milk", "assistant: done, saved"))
	again, _, _ := remembered.Search(t.Context(), memory.Query{})
	if len(again) != 5 || again[0].Value != "please remember the milk" {
		t.Errorf("a short conversation was ignored: %+v", again)
	}
	if files, err := os.ReadDir("."); len(files) != 0 {
		t.Errorf("without Dir it wrote %v, %v", files, err)
	}
}

func TestFilesBelongToTheirOwners(t *testing.T) {
	for _, c := range []struct {
		name string
		env  *agent.Env
		fact string
		want string // the file of the day; "": none
	}{
		{"a named conversation", &agent.Env{Tenant: "acme", User: "ann", Conversation: conversation{"c", factTalk}},
			"0123456789", "acme/ann/c/2026-01-02.md"},
		{"no name", &agent.Env{Tenant: "acme", User: "ann", Conversation: plainTalk{factTalk}}, "0123456789", ""},
		{"too short a fact", &agent.Env{Tenant: "acme", User: "ann", Conversation: conversation{"c", factTalk}},
			"012345678", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var hooks agent.Hooks
			hooks.Use(&memory.Extractor{Dir: dir, Extract: func(
				_ context.Context, _ *agent.Run, messages []agent.Message,
			) ([]memory.Extracted, error) {
				if len(messages) != len(factTalk) {
					t.Errorf("searched %d messages", len(messages))
				}
				return []memory.Extracted{{Text: c.fact}}, nil
			}})
			c.env.Clock = looptest.NewClock(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
			hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(c.env), agent.AgentResult{})
			if c.want == "" {
				if files, err := os.ReadDir(dir); len(files) != 0 {
					t.Errorf("wrote %v, %v", files, err)
				}
				return
			}
			if got := string(fixture.ReadFile(t, filepath.Join(dir, c.want))); got != "- [fact] "+c.fact+"\n" {
				t.Errorf("wrote %q", got)
			}
		})
	}
}

func TestFactsThatCannotBeWrittenAreReported(t *testing.T) {
	for name, block := range map[string]func(dir string) error{
		"the directory is a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"the file is a directory": func(dir string) error { return os.MkdirAll(filepath.Join(dir, "MEMORY.md"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "facts")
			if err := block(dir); err != nil {
				t.Fatal(err)
			}
			hook := &memory.Extractor{Dir: dir, Share: share.Everyone, Extract: func(
				context.Context, *agent.Run, []agent.Message,
			) ([]memory.Extracted, error) {
				return []memory.Extracted{{Text: "a fact that is long enough"}}, nil
			}}
			if got := failures(t, hook, factTalk); len(got) != 1 || !strings.Contains(got[0], "facts") {
				t.Errorf("reported %q", got)
			}
		})
	}
}

func TestExtractorStoresAtMostEightFacts(t *testing.T) {
	remembered := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	saw := 0
	hooks.Use(&memory.Extractor{Store: remembered,
		Extract: func(_ context.Context, _ *agent.Run, m []agent.Message) ([]memory.Extracted, error) {
			saw = len(m)
			facts := []memory.Extracted{{Text: "too short"}, {Text: "token=hunter2 of bob@example.org"},
				{Text: "token=hunter3 of bob@example.org"}}
			for i := range 20 {
				facts = append(facts, memory.Extracted{Kind: "k\nk", Text: fmt.Sprintf("fact number %d\n# and more", i)})
			}
			return facts, errors.New("and then it failed")
		}})
	var events hookkit.TraceRecorder
	hooks.Trace(&events)
	endOf(t, &hooks, nil, make([]agent.Message, 50))
	facts, _, _ := remembered.Search(t.Context(), memory.Query{})
	if saw != 20 || len(facts) != 8 || facts[7].Value != "token=[REDACTED] of bob@example.org" ||
		facts[6].Value != "fact number 0 # and more" || !strings.HasPrefix(facts[6].Key, "k k-") {
		t.Errorf("saw %d messages, kept %+v", saw, facts)
	}
	if e := events.Events()[0]; e.Failure == nil || !strings.Contains(e.Failure.Error(), "and then it failed") {
		t.Errorf("reported: %v", e.Failure)
	}
}

func TestExtractorWritesDailyAndLongTermFiles(t *testing.T) {
	dir := t.TempDir()
	clock := looptest.NewClock(time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC))
	n := 0
	var hooks agent.Hooks
	hooks.Use(&memory.Extractor{Share: share.Everyone, Dir: dir,
		Extract: func(context.Context, *agent.Run, []agent.Message) ([]memory.Extracted, error) {
			var facts []memory.Extracted
			for i := range 6 {
				n++
				facts = append(facts, memory.Extracted{Kind: "k", Text: fmt.Sprintf("%d.%d %s", n, i, strings.Repeat("ä", 100))})
			}
			return append(facts, memory.Extracted{Kind: "k", Text: "always the same"}), nil
		}})
	day, stays := filepath.Join(dir, "2026-01-02.md"), filepath.Join(dir, "MEMORY.md")
	endOf(t, &hooks, clock, factTalk)
	if got := string(fixture.ReadFile(t, day)); strings.Count(got, "\n") != 7 ||
		!strings.HasSuffix(got, "- [k] always the same\n") {
		t.Errorf("the day: %s", got)
	}
	if got := string(fixture.ReadFile(t, stays)); strings.Count(got, "\n") != 4 {
		t.Errorf("what stays: %s", got)
	}
	for range 30 {
		endOf(t, &hooks, clock, factTalk)
	}
	got := string(fixture.ReadFile(t, day))
	if runes := utf8.RuneCountInString(got); runes > 8000 || runes < 7500 || strings.Count(got, "always the same") > 1 ||
		!strings.HasPrefix(got, "- [k] ") || !strings.Contains(got, fmt.Sprintf("] %d.5", n)) {
		t.Errorf("the day has %d characters: %s", runes, got)
	}
	if runes := utf8.RuneCountInString(string(fixture.ReadFile(t, stays))); runes > 4000 || runes < 3500 {
		t.Errorf("what stays has %d characters", runes)
	}
	clock.Advance(2 * time.Hour)
	endOf(t, &hooks, clock, factTalk)
	if _, err := os.Stat(filepath.Join(dir, "2026-01-03.md")); err != nil {
		t.Error(err)
	}
	fixture.MustPanic(t, "Store and Dir are both empty", func() { hooks.Use(&memory.Extractor{}) })
	fixture.MustPanic(t, "Share is 9", func() { hooks.Use(&memory.Extractor{Dir: dir, Share: 9}) })
}

func ExampleExtractor() {
	remembered := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	hooks.Use(&memory.Extractor{Store: remembered})

	run := agent.NewRun(&agent.Env{})
	hooks.OnRunEnd.Fire(context.Background(), run, agent.AgentResult{Messages: []agent.Message{
		{Role: agent.RoleUser, Content: "Hi."}, {Role: agent.RoleAssistant, Content: "Hello."},
		{Role: agent.RoleUser, Content: "Remember that I travel with a dog."},
		{Role: agent.RoleAssistant, Content: "I will."},
		{Role: agent.RoleUser, Content: "Thanks."}, {Role: agent.RoleAssistant, Content: "You are welcome."},
	}})
	facts, _, _ := remembered.Search(context.Background(), memory.Query{})
	for _, f := range facts {
		fmt.Println(f.Value)
	}
	// Output: Remember that I travel with a dog.
}
