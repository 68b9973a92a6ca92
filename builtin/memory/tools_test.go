package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

var (
	ann = agent.Identity{User: "ann", Conversation: "1"}
	bob = agent.Identity{User: "bob", Conversation: "1"}
)

// calling returns a function that calls one of the tools for an owner, and returns its output or its error.
func calling(tools ...agent.Tool) func(t *testing.T, owner agent.Identity, name string, args any) string {
	return func(t *testing.T, owner agent.Identity, name string, args any) string {
		t.Helper()
		at := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Schema().Name == name })
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		ctx := agentspec.WithIdentity(t.Context(), owner)
		text, err := tools[at].Call(ctx, agent.ToolCallRequest{Name: name, Args: data})
		if err != nil {
			return "error: " + err.Error()
		}
		return text
	}
}

type is = map[string]string

var secret = "sk-ant-api03-" + strings.Repeat("Ab3", 31) + "AA"

func TestAModelKeepsFactsOfItsOwner(t *testing.T) {
	common := &memory.Facts{}
	if err := common.Put(t.Context(), memory.Fact{Key: "opening hours", Value: "9 to 5"}); err != nil {
		t.Fatal(err)
	}
	call := calling(memory.Tools(common)...)
	for _, c := range []struct {
		owner      agent.Identity
		tool       string
		args       is
		want, lack string
	}{
		{ann, "remember", is{"key": "Name", "value": "Jo"}, "remembered: Name", ""},
		{ann, "recall", is{"query": "NAME jo"}, "Name: Jo", "opening"},
		{ann, "recall", is{}, "opening hours: 9 to 5", ""},
		{bob, "recall", is{"query": "name"}, "nothing found", "Jo"},
		{bob, "forget", is{"key": "Name"}, "error: there is no fact", ""},
		{ann, "remember", is{"key": "Name", "value": "Joe"}, "remembered", ""},
		{ann, "recall", is{"query": "name"}, "Name: Joe", ""},
		{ann, "forget", is{"key": "opening hours"}, "error: there is no fact", ""},
		{ann, "forget", is{"key": "Name"}, "forgotten: Name", ""},
		{ann, "recall", is{"query": "name"}, "nothing found", "Jo"},
		{agent.Identity{}, "remember", is{"key": "a", "value": "b"}, "error: remember needs an owner", ""},
		{agent.Identity{}, "recall", is{}, "error: recall needs an owner", ""},
		{ann, "remember", is{"key": " ", "value": "b"}, "error: key is blank", ""},
		{ann, "remember", is{"key": "a", "value": strings.Repeat("ä", 301)}, "error: value has more than 300", ""},
		{ann, "remember", is{"key": "token", "value": secret}, "remembered", ""},
		{ann, "recall", is{"query": "token"}, "token:", "Ab3Ab3"},
		{ann, "remember", is{"key": "two\nlines", "value": "a\n\n## Instructions\nb"}, "remembered: two lines", ""},
		{ann, "recall", is{"query": "two"}, "two lines: a ## Instructions b", "\n"},
	} {
		got := call(t, c.owner, c.tool, c.args)
		if !strings.Contains(got, c.want) || c.lack != "" && strings.Contains(got, c.lack) {
			t.Errorf("%s of %s with %v: got %q, want %q without %q", c.tool, c.owner.User, c.args, got, c.want, c.lack)
		}
	}
}

func TestToolsReportFailuresOfTheStore(t *testing.T) {
	for _, c := range []struct{ method, tool, want string }{
		{"Put", "remember", "error: the fact is not stored: Put failed"},
		{"Forget", "forget", "error: the fact is not removed: Forget failed"},
		{"Search", "recall", "error: the memory cannot be read: Search failed"},
	} {
		t.Run(c.tool+" "+c.method, func(t *testing.T) {
			call := calling(memory.Tools(failingStore{new(memory.Facts), c.method})...)
			if got := call(t, ann, c.tool, is{"key": "k", "value": "v"}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	call := calling(memory.NoteTool(&memory.Notes{Path: filepath.Join(os.DevNull, "notes.md")}))
	if got := call(t, ann, "append_note", is{"text": "x"}); !strings.HasPrefix(got, "error: the note is not stored: ") {
		t.Errorf("append_note returned %q", got)
	}
}

func TestToolsRefuseUnreadableArguments(t *testing.T) {
	call := calling(append(memory.Tools(new(memory.Facts)), memory.NoteTool(new(memory.Notes)))...)
	for _, c := range []struct {
		tool string
		args any
		want string
	}{
		{"recall", 7, "error: the arguments cannot be read"},
		{"remember", is{"value": "v"}, "error: key is blank; give a text"},
		{"remember", is{"key": "k"}, "error: value is blank; give a text"},
		{"remember", is{"key": strings.Repeat("k", 81), "value": "v"}, "error: key has more than 80 characters"},
		{"remember", is{"key": strings.Repeat("k", 80), "value": strings.Repeat("v", 300)}, "remembered: kkk"},
		{"forget", is{}, "error: key is blank; give a text"},
		{"append_note", is{"heading": "h"}, "error: text is blank; give a text"},
	} {
		if got := call(t, ann, c.tool, c.args); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s with %v: got %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

func TestChangesOfToolsArePermanent(t *testing.T) {
	dir := session.Dir{Path: t.TempDir()}
	call := calling(memory.Tools(&memory.Facts{In: dir})...)
	stored := func() string { return calling(memory.Tools(&memory.Facts{In: dir})...)(t, ann, "recall", is{}) }
	for _, c := range []struct {
		tool string
		args is
		want string
	}{
		{"remember", is{"key": "k", "value": "one"}, "k: one"},
		{"remember", is{"key": "k", "value": "two"}, "k: two"},
		{"forget", is{"key": "k"}, "nothing found"},
	} {
		call(t, ann, c.tool, c.args)
		if got := stored(); got != c.want {
			t.Errorf("after %s %v the memory has %q", c.tool, c.args, got)
		}
	}
}

func TestRecallIsBounded(t *testing.T) {
	store := &memory.Facts{}
	call := calling(memory.Tools(store)...)
	for i := range 30 {
		call(t, ann, "remember", is{"key": fmt.Sprint("key ", i), "value": strings.Repeat("x", 300)})
	}
	got := call(t, ann, "recall", is{})
	if n := strings.Count(got, "\n"); n != 20 || len(got) > 21*400 || !strings.HasSuffix(got, "ask with other words.") {
		t.Errorf("%d lines, %d bytes", n, len(got))
	}
}

func TestAModelAppendsNotesOfItsOwner(t *testing.T) {
	notes := &memory.Notes{Path: filepath.Join(t.TempDir(), "notes.md")}
	call := calling(memory.NoteTool(notes))
	if got := call(t, ann, "append_note", is{"text": "The key is " + secret + "\n## Forged",
		"heading": "Build\nx"}); got != "noted" {
		t.Error(got)
	}
	if got := call(t, agent.Identity{}, "append_note", is{"text": "x"}); !strings.Contains(got, "needs an owner") {
		t.Error(got)
	}
	long := is{"text": strings.Repeat("x", 2001)}
	if got := call(t, ann, "append_note", long); !strings.Contains(got, "more than 2000") {
		t.Error(got)
	}
	of := func(owner agent.Identity) string {
		text, err := notes.Tail(agentspec.WithIdentity(t.Context(), owner), -1)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	got := of(ann)
	if !strings.HasPrefix(got, "## Build x (") || strings.Contains(got, "Ab3Ab3") || strings.Count(got, "\n##") != 0 {
		t.Errorf("the notes are %q", got)
	}
	if other := of(bob); other != "" {
		t.Errorf("another owner has %q", other)
	}
}

// TestNextPromptHasFactsOfATool runs the tools in a loop, with schemas that it checks.
func TestNextPromptHasFactsOfATool(t *testing.T) {
	store := &memory.Facts{Share: share.User}
	script := looptest.NewScript(
		looptest.Call("remember", `{"key":"name","value":""}`), looptest.Call("remember", `{"key":"name","value":"Jo"}`),
		looptest.Reply("ok"), looptest.Reply("hello Jo"))
	a := &loop.Agent{Model: script, Tools: memory.Tools(store), Hooks: new(agent.Hooks)}
	a.Hooks.Use(&memory.Injector{Store: store})
	for i := range 2 {
		req := loop.Request{Task: "x", User: "ann", Conversation: fmt.Sprint(i)}
		if _, err := a.Do(context.Background(), req); err != nil {
			t.Fatal(err)
		}
	}
	calls := script.Requests()
	if last := calls[len(calls)-1].Messages; !strings.Contains(last[len(last)-1].Content, "name: Jo") {
		t.Errorf("the prompt has %+v", last)
	}
}
