package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

var update = flag.Bool("update", false, "write the transcript into README.md")

// prompts are the places where the user types a line.
var prompts = regexp.MustCompile(`(?m)^> |Allow\? \[[^\]]*\] `)

// transcript runs the program and returns the text on the terminal, with the typed lines.
func transcript(t *testing.T, args, typed []string) string {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), args, strings.NewReader(strings.Join(typed, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	return prompts.ReplaceAllStringFunc(out.String(), func(prompt string) string {
		if len(typed) == 0 {
			return prompt
		}
		line := typed[0]
		typed = typed[1:]
		return prompt + line + "\n"
	})
}

func TestREADMEShowsTheDemonstration(t *testing.T) {
	got := "```console\n$ go run . -script\n" + transcript(t, []string{"-script"}, []string{
		"The greeting has a mistake.", "y", "a", "/undo", "/quit",
	}) + "```"
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile("(?s)```console.*?```").ReplaceAllLiteralString(string(text), got)
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("run go test -update; the demonstration prints:\n%s", got)
	}
}

// newTest returns a coder with a scripted model, whose user types the lines.
func newTest(t *testing.T, dir, typed string, turns ...looptest.Turn) (*coder, *strings.Builder) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "sessions.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	space, err := openWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { space.root.Close() })
	var out strings.Builder
	user := newTerminal(strings.NewReader(typed), &out)
	return newCoder(looptest.NewScript(turns...), space, sqlite.Sessions{DB: db}, user), &out
}

func TestInterruptKeepsTheConversation(t *testing.T) {
	var interrupt context.CancelFunc
	c, out := newTest(t, t.TempDir(), "first\nsecond\n",
		looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
			interrupt() // the user presses Ctrl-C while the model works
			<-ctx.Done()
			return agent.LLMResponse{}, ctx.Err()
		}),
		looptest.Reply("done"),
	)
	c.interruptible = func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		interrupt = cancel
		return ctx, cancel
	}
	if err := c.talk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "Interrupted.") || !strings.Contains(out.String(), "done\n") {
		t.Errorf("the terminal shows:\n%s", out)
	}
	session, err := c.sessions.Load(t.Context(), c.identity)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{"first", "second"} {
		if !slices.ContainsFunc(session.Messages, func(m agent.Message) bool { return m.Content == task }) {
			t.Errorf("the conversation lacks the task %q", task)
		}
	}
}

func TestRewindGoesBackBeforeTheLastTask(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	write := func(content string) looptest.Turn {
		return looptest.Call("write", map[string]string{"path": "a.txt", "content": content})
	}
	c, out := newTest(t, dir, "first\ny\nsecond\ny\n/rewind\n/undo\nthird\n/rewind\n/rewind\n/rewind\n",
		write("one"), looptest.Reply("done"), write("two"), looptest.Reply("done"), looptest.Reply("done"))
	if err := c.talk(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"as before: second", "There is no change to take back.", "as before: third", "as before: first",
		"There is no task to take back.",
	} {
		_, rest, found := strings.Cut(out.String(), want)
		if !found {
			t.Errorf("the terminal does not show %q in order:\n%s", want, out)
		}
		out.Reset()
		out.WriteString(rest)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the new file is left: %v", err)
	}
	if session, err := c.sessions.Load(t.Context(), c.identity); err != nil || len(session.Messages) > 0 {
		t.Errorf("the conversation has %+v, %v", session.Messages, err)
	}
	requests := c.agent.Model.(*looptest.Script).Requests()
	for _, m := range requests[len(requests)-1].Messages {
		if m.Content == "second" {
			t.Error("the model still knows the second task")
		}
	}
}

func TestAnswersDecideAboutCommands(t *testing.T) {
	one := map[string]string{"command": "echo one"}
	other := map[string]string{"command": "echo one; touch made"}
	for _, c := range []struct {
		name, typed     string
		calls           []any
		questions, runs int
	}{
		{"yes counts once", "y\nn\n", []any{one, one}, 2, 1},
		{"always counts again", "a\n", []any{one, one}, 1, 2},
		{"always is for one command", "a\nn\n", []any{one, other}, 2, 1},
		{"two commands in one are denied", "a\n", []any{one, `{"command":"echo one","command":"touch made"}`}, 1, 1},
		{"no", "n\n", []any{one}, 1, 0},
		{"a reason is a no", "use two\n", []any{one}, 1, 0},
		{"end of the input is a no", "", []any{one}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var turns []looptest.Turn
			for _, args := range c.calls {
				turns = append(turns, looptest.Call("shell", args))
			}
			dir := t.TempDir()
			coder, out := newTest(t, dir, "go\n"+c.typed, append(turns, looptest.Reply("done"))...)
			if err := coder.talk(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), "Allow?"); got != c.questions {
				t.Errorf("%d questions, want %d:\n%s", got, c.questions, out)
			}
			if got := strings.Count(out.String(), "  one\n"); got != c.runs {
				t.Errorf("%d commands ran, want %d:\n%s", got, c.runs, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
				t.Error("another command ran")
			}
		})
	}
}

func TestConversationsBelongToDirectories(t *testing.T) {
	c, out := newTest(t, t.TempDir(), "/new\n/quit\n")
	for _, dir := range []string{c.space.dir, "/elsewhere"} {
		session := agent.Session{Identity: agent.Identity{Conversation: dir}}
		session.Messages = []agent.Message{{Role: agent.RoleUser, Content: "hello"}}
		if err := c.sessions.Save(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.talk(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "has 1 messages") {
		t.Errorf("the conversation did not continue:\n%s", out)
	}
	left, err := c.sessions.List(t.Context())
	if err != nil || len(left) != 1 || left[0].Conversation != "/elsewhere" {
		t.Errorf("/new left %v, %v", left, err)
	}
}

func TestRulesDecideAboutCalls(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": ".env", "config": ".git/config"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", ".git/config"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hooks := new(agent.Hooks)
	protect(hooks, dir)
	for _, c := range []struct{ tool, args, want string }{
		{"read", `{"path":"main.go"}`, "allow"},
		{"read", `{"path":".env"}`, "ask"},
		{"read", `{"path":"link"}`, "ask"},
		{"read", `{"path":"a/b/.ssh/id"}`, "ask"},
		{"read", `{"path":"a/key.pem"}`, "ask"},
		{"list", `{}`, "allow"},
		{"search", `{"pattern":"x"}`, "allow"},
		{"search", `{"pattern":"x","path":".git"}`, "ask"},
		{"edit", `{"path":"main.go","old":"a","new":"b"}`, "ask"},
		{"edit", `{"path":".git/config","old":"a","new":"b"}`, "deny"},
		{"edit", `{"path":"config","old":"a","new":"b"}`, "deny"},
		{"write", `{"path":"sub/.git/hooks/pre-commit","content":""}`, "deny"},
		{"write", `{"path":"new.go","content":""}`, "ask"},
		{"shell", `{"command":"ls"}`, "allow"},
		{"shell", `{"command":"ls; go test"}`, "ask"},
		{"shell", `{"command":"ls > file"}`, "ask"},
		{"shell", `{"command":"go test ./..."}`, "ask"},
		{"shell", `{"command":"rm -rf /"}`, "deny"},
		{"shell", `{"command":"rm -rf .git"}`, "deny"},
		{"other", `{}`, "ask"},
	} {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			call := agent.ToolCallRequest{Name: c.tool, Args: []byte(c.args)}
			exit, err := hooks.OnPermission.Fire(t.Context(), agent.NewRun(nil), call)
			got := "deny"
			switch exit.(type) {
			case agent.Allow:
				got = "allow"
			case agent.Ask:
				got = "ask"
			}
			if err != nil || got != c.want {
				t.Errorf("got %s (%v), %v", got, exit, err)
			}
		})
	}
}
