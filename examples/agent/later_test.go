package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// fails runs the program and returns its error.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	err := run(t.Context(), args, strings.NewReader(""), io.Discard, false)
	if err == nil {
		t.Fatalf("%q succeeded", args)
	}
	return err.Error()
}

var questionID = regexp.MustCompile(`-approve (\S+)`)

// suspended starts a run that waits for an answer, and returns the file of its store and the ID of the question.
func suspended(t *testing.T) (store, id string) {
	t.Helper()
	store = filepath.Join(t.TempDir(), "agent.db")
	out := play(t, "", "-store", store, "-later")
	found := questionID.FindStringSubmatch(out)
	if found == nil || strings.Contains(out, "ok: build") {
		t.Fatalf("the run is not suspended:\n%s", out)
	}
	return store, found[1]
}

func TestSuspendedRunContinuesOnce(t *testing.T) {
	for _, c := range []struct{ name, input, flag, want string }{
		{"approved by flag", "", "-approve", "ok: build -cache rebuild"},
		{"denied by flag", "", "-deny", "denied with -deny"},
		{"approved at the terminal", "y\n", "", "ok: build -cache rebuild"},
		{"denied at the terminal", "n\n", "", "user declined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, id := suspended(t)
			args := []string{"-store", store, "-resume"}
			if err := fails(t, args...); !strings.Contains(err, "EOF") { // with a closed input, nobody has answered
				t.Errorf("resumed without an answer: %s", err)
			}
			if c.flag != "" {
				args = append(args, c.flag, id)
			}
			out := play(t, c.input, args...)
			if !strings.Contains(out, c.want) || !strings.Contains(out, "stopped by completed") {
				t.Errorf("the output lacks %q:\n%s", c.want, out)
			}
			if c.flag != "" {
				if err := fails(t, args...); !strings.Contains(err, "no open question") {
					t.Errorf("resumed twice: %s", err)
				}
			}
			if err := fails(t, "-store", store, "-resume"); !strings.Contains(err, "no run to resume") {
				t.Errorf("resumed twice: %s", err)
			}
		})
	}
}

// Two persons approve the same call at the same time, each in a process of their own.
func TestOneOfTwoProcessesResumesARun(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	store, id := suspended(t)
	var outs [2][]byte
	var errs [2]error
	var both sync.WaitGroup
	for i := range outs {
		both.Go(func() {
			cmd := exec.Command(binary, "-store", store, "-resume", "-approve", id)
			cmd.Env = append(os.Environ(), "AGENT_PROCESS=1")
			outs[i], errs[i] = cmd.CombinedOutput()
		})
	}
	both.Wait()
	won, lost := 0, 0
	for i, out := range outs {
		text := string(out)
		switch {
		case errs[i] == nil && strings.Contains(text, "ok: build") && strings.Contains(text, "stopped by completed"):
			won++
		case errs[i] != nil && !strings.Contains(text, "ok: build") &&
			(strings.Contains(text, "no open question") || strings.Contains(text, "another process has resumed the run")):
			lost++
		default:
			t.Errorf("%v:\n%s", errs[i], text)
		}
	}
	if won != 1 || lost != 1 {
		t.Errorf("%d processes resumed the run, and %d were refused", won, lost)
	}
}

func TestUnansweredRunStaysInTheStore(t *testing.T) {
	store, id := suspended(t)
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"another task", "waits for an answer", []string{"Do something else."}},
		{"wrong question", "has no question", []string{"-resume", "-approve", "other"}},
		{"no answer", "none is answered", []string{"-resume", "-later"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := fails(t, append([]string{"-store", store}, c.args...)...); !strings.Contains(err, c.want) {
				t.Errorf("got %s", err)
			}
		})
	}
	if out := play(t, "", "-store", store, "-conversation", "other", "-yes"); !strings.Contains(out, "completed") {
		t.Errorf("another conversation waits, too:\n%s", out)
	}
	if out := play(t, "", "-store", store, "-resume", "-approve", id); !strings.Contains(out, "ok: build") {
		t.Errorf("the run is lost:\n%s", out)
	}
}

// cancelAtQuestion cancels a run when it asks the user.
type cancelAtQuestion struct {
	shown  strings.Builder
	cancel context.CancelFunc
}

func (c *cancelAtQuestion) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("Allow?")) {
		c.cancel()
	}
	return c.shown.Write(p)
}

func TestInterruptedRunContinues(t *testing.T) {
	store := filepath.Join(t.TempDir(), "agent.db")
	ctx, cancel := context.WithCancel(t.Context())
	out := &cancelAtQuestion{cancel: cancel}
	input, user := io.Pipe() // the user never answers
	defer user.Close()
	if err := run(ctx, []string{"-store", store, "Rebuild it."}, input, out, false); err == nil {
		t.Fatalf("the run was not interrupted:\n%s", out.shown.String())
	}
	again := play(t, "", "-store", store, "-resume", "-yes")
	if strings.Contains(again, "412 packages") || !strings.Contains(again, "stopped by completed") {
		t.Errorf("the run began again:\n%s", again)
	}
	if !strings.Contains(again, "task Rebuild it.") || !strings.Contains(again, "step 4 of 50") {
		t.Errorf("the run lost its task or its counters:\n%s", again)
	}
}

func TestConversationContinuesFromTheStore(t *testing.T) {
	store := filepath.Join(t.TempDir(), "agent.db")
	play(t, "", "-store", store, "-yes")
	if out := play(t, "", "-store", store, "Anything else?"); !strings.Contains(out, "reply I cannot do more than that.") {
		t.Errorf("the script began again:\n%s", out)
	}
}

func TestWrongFlagsAreErrors(t *testing.T) {
	for _, args := range [][]string{
		{"-later"},
		{"-resume"},
		{"-approve", "x"},
		{"-otel", "file"},
		{"-model", "openai:gpt"},
		{"-model", "anthropic:"},
		{"-model", "gpt"},
		{"-conversation", ""},
		{"-hooks", "testdata/missing.json"},
		{"-mcp", "no-such-program"},
		{"two", "tasks"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) { fails(t, args...) })
	}
}

func TestHelpHasEveryFlagAndExamples(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, nil, &out, false); err == nil {
		t.Error("-h ran the agent")
	}
	for _, want := range []string{"-model", "-mcp", "-store", "-hooks", "-otel", "-resume", "-approve", "Examples:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help lacks %s", want)
		}
	}
}
