package permission_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

var question = agent.Question{
	Call: agent.ToolCallRequest{Name: "remove", Args: []byte(`{"path":"/tmp/x"}`)}, Reason: "it deletes", Agent: "cleaner",
}

func TestOnlyYesApproves(t *testing.T) {
	for _, c := range []struct {
		typed string
		allow bool
	}{
		{"y\n", true}, {"Y\n", true}, {"yes\n", true}, {"YES\r\n", true}, {"  yes \n", true}, {"y", true},
		{"n\n", false}, {"no\n", false}, {"\n", false}, {"yy\n", false}, {"yes please\n", false},
		{"ye", false}, {strings.Repeat("y", 100_000) + "\n", false}, {"\x00y\n", false},
		{"y" + strings.Repeat(" ", 255) + "\n", true}, {"y" + strings.Repeat(" ", 255) + "no\n", false},
		{"no" + strings.Repeat(" ", 254) + "yes\n", false}, {"y" + strings.Repeat(" ", 256) + "\n", false},
	} {
		t.Run(fmt.Sprintf("%.20q", c.typed), func(t *testing.T) {
			var out bytes.Buffer
			a := &permission.Terminal{In: strings.NewReader(c.typed), Out: &out}
			got, err := a.Approve(t.Context(), question)
			if err != nil || got.Allow != c.allow {
				t.Errorf("allowed is %t (%v), want %t", got.Allow, err, c.allow)
			}
			if !c.allow && got.Reason != "user declined" {
				t.Errorf("the reason is %q", got.Reason)
			}
			want := "[cleaner] Run remove with these arguments?\n  path: /tmp/x\nReason: it deletes\nAllow? [y/N] "
			if out.String() != want {
				t.Errorf("the question is %q, want %q", out.String(), want)
			}
		})
	}
}

func TestTerminalUsesTheStandardFiles(t *testing.T) {
	in, keys := pipe(t)
	screen, out := pipe(t)
	stdin, stderr := os.Stdin, os.Stderr
	os.Stdin, os.Stderr = in, out
	defer func() { os.Stdin, os.Stderr = stdin, stderr }()
	if _, err := keys.WriteString("y\n"); err != nil {
		t.Fatal(err)
	}
	got, err := new(permission.Terminal).Approve(t.Context(), question)
	if err != nil || !got.Allow {
		t.Errorf("allowed is %t, error %v", got.Allow, err)
	}
	out.Close()
	if shown, err := io.ReadAll(screen); err != nil || !strings.HasSuffix(string(shown), "Allow? [y/N] ") {
		t.Errorf("shown %q, %v", shown, err)
	}
}

// pipe returns both ends of a pipe, which are closed after the test.
func pipe(t *testing.T) (out, in *os.File) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.Close()
		in.Close()
	})
	return out, in
}

func TestDeclineTextIsTheReason(t *testing.T) {
	a := &permission.Terminal{In: strings.NewReader("n\n"), Out: io.Discard, DeclineText: "the operator said no"}
	if got, err := a.Approve(t.Context(), question); err != nil || got.Reason != "the operator said no" {
		t.Errorf("the reason is %q, %v", got.Reason, err)
	}
}

func TestTerminalReadsOnlyTheAnswer(t *testing.T) {
	in := strings.NewReader("y\nn\nthe rest")
	a := &permission.Terminal{In: in, Out: io.Discard}
	for _, want := range []bool{true, false} {
		if got, err := a.Approve(t.Context(), question); err != nil || got.Allow != want {
			t.Errorf("allowed is %t (%v), want %t", got.Allow, err, want)
		}
	}
	if rest, _ := io.ReadAll(in); string(rest) != "the rest" {
		t.Errorf("%q remains to be read", rest)
	}
}

// panicking is a reader that panics.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("broken") }

// idle is a reader that returns nothing and no error.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// slow is a reader that returns nothing every other time.
type slow struct {
	in     io.Reader
	pauses bool
}

func (s *slow) Read(p []byte) (int, error) {
	if s.pauses = !s.pauses; s.pauses {
		return 0, nil
	}
	return s.in.Read(p)
}

func TestTerminalWaitsForSlowInput(t *testing.T) {
	a := &permission.Terminal{In: &slow{in: strings.NewReader("y" + strings.Repeat(" ", 200) + "\n")}, Out: io.Discard}
	if got, err := a.Approve(t.Context(), question); err != nil || !got.Allow {
		t.Errorf("allowed is %t, error %v", got.Allow, err)
	}
}

func TestACancelledQuestionIsNotShown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	a := &permission.Terminal{In: strings.NewReader("y\n"), Out: &out}
	if got, err := a.Approve(ctx, question); got.Allow || !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("allowed is %t, error %v, shown %q", got.Allow, err, out.String())
	}
}

func TestTerminalReturnsErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name     string
		approver *permission.Terminal
		want     string
	}{
		{"reading fails", &permission.Terminal{In: iotest.ErrReader(broken), Out: io.Discard},
			"the answer could not be read: broken"},
		{"the input has ended", &permission.Terminal{In: strings.NewReader(""), Out: io.Discard},
			"the answer could not be read: EOF"},
		{"reading panics", &permission.Terminal{In: panicking{}, Out: io.Discard}, "could not be read: panic: broken"},
		{"reading makes no progress", &permission.Terminal{In: idle{}, Out: io.Discard}, io.ErrNoProgress.Error()},
		{"writing fails", &permission.Terminal{In: strings.NewReader("y\n"), Out: failing{}},
			"the question could not be shown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.approver.Approve(t.Context(), question)
			if got.Allow || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("allowed is %t, error %v, want %q", got.Allow, err, c.want)
			}
		})
	}
}

func TestTerminalAsksOnlyWhatItCanAnswer(t *testing.T) {
	for _, choices := range [][]agent.Choice{
		{agent.ChooseAllow, agent.ChooseDeny}, {agent.ChooseDeny, agent.ChooseEdit}, {agent.ChooseAnswer},
	} {
		var out strings.Builder
		asked := question
		asked.Choices = choices
		a := &permission.Terminal{In: strings.NewReader("y\n"), Out: &out}
		got, err := a.Approve(t.Context(), asked)
		shown, can := out.Len() > 0, choices[0] == agent.ChooseAllow
		if got.Allow != can || shown != can || (err == nil) != can || err != nil && !strings.Contains(err.Error(),
			string(choices[len(choices)-1])) {
			t.Errorf("%q: %+v, %v, shown %q", choices, got, err, out.String())
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("closed") }

// abandon asks a question and cancels its context before the answer.
func abandon(t *testing.T, a *permission.Terminal) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		synctest.Wait()
		cancel()
	}()
	if got, err := a.Approve(ctx, question); got.Allow || !errors.Is(err, context.Canceled) {
		t.Errorf("without an answer: allowed is %t, error %v", got.Allow, err)
	}
}

func TestALateAnswerIsDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		a := &permission.Terminal{In: in, Out: io.Discard}

		abandon(t, a)
		go io.WriteString(keys, "y\n") // after the first question was cancelled
		synctest.Wait()

		answered := make(chan agent.Approval)
		go func() {
			got, err := a.Approve(t.Context(), question)
			if err != nil {
				t.Error(err)
			}
			answered <- got
		}()
		synctest.Wait()
		select {
		case got := <-answered:
			t.Errorf("the late line answered the next question: %+v", got)
		default:
			io.WriteString(keys, "n\n")
			if got := <-answered; got.Allow {
				t.Error("the user declined, but the call is allowed")
			}
		}
	})
}

func TestNextLineAnswersCurrentQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		a := &permission.Terminal{In: in, Out: io.Discard}
		abandon(t, a)
		answered := make(chan agent.Approval)
		go func() {
			got, _ := a.Approve(t.Context(), question)
			answered <- got
		}()
		synctest.Wait()
		io.WriteString(keys, "y\n")
		if got := <-answered; !got.Allow {
			t.Error("the user approved, but the call is denied")
		}
	})
}

func TestTerminalQueuesQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		var out bytes.Buffer
		a := &permission.Terminal{In: in, Out: &out}
		answers := make(chan agent.Approval, 2)
		for range 2 {
			go func() {
				got, err := a.Approve(t.Context(), question)
				if err != nil {
					t.Error(err)
				}
				answers <- got
			}()
		}
		synctest.Wait()
		if n := strings.Count(out.String(), "Allow?"); n != 1 {
			t.Errorf("%d questions are shown at once", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := a.Approve(ctx, question); !errors.Is(err, context.Canceled) {
			t.Errorf("a queued question does not return when its context is done: %v", err)
		}
		io.WriteString(keys, "y\n")
		io.WriteString(keys, "n\n")
		if first, second := <-answers, <-answers; first.Allow == second.Allow {
			t.Errorf("the answers are %+v and %+v, want one of each", first, second)
		}
	})
}
