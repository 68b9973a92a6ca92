package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestAmountsNeverShrink(t *testing.T) {
	for _, c := range []struct{ a, b, sum int }{
		{1, 2, 3}, {5, -1, 5}, {-5, 1, 1}, {math.MaxInt, 1, math.MaxInt}, {0, math.MinInt, 0}, {-1, -1, 0},
	} {
		if got := add(c.a, c.b); got != c.sum {
			t.Errorf("%d and %d are %d, want %d", c.a, c.b, got, c.sum)
		}
	}
}

func TestReservationsFitEachLimit(t *testing.T) {
	b := bank{table: newMemory(simLifetime).store().Table, clock: agent.SystemClock{}}
	same := []Account{{Name: "x", Limit: Amount{Calls: 5}}, {Name: "x", Limit: Amount{Calls: 1}}, {Name: "y"}}
	for i, want := range []error{nil, ErrSpent} {
		h := hold{ID: string(rune('a' + i)), Amount: Amount{Calls: 1}}
		for range 2 { // the second time, the answer to the first attempt was lost
			if err := b.reserve(t.Context(), same, h); !errors.Is(err, want) {
				t.Errorf("reservation %d: %v", i, err)
			}
		}
	}
	for _, name := range []string{"x", "y"} {
		if balance, _, err := b.balance(t.Context(), name); err != nil || balance.Total().Calls != 1 {
			t.Errorf("%s: %+v, %v", name, balance, err)
		}
	}
}

func TestErrorNamesTheLimit(t *testing.T) {
	b := bank{table: newMemory(simLifetime).store().Table, clock: agent.SystemClock{}}
	for limit, want := range map[Amount]string{
		{Calls: 1}: "the limit is 1 calls", {Tokens: 3}: "the limit is 3 tokens",
		{Calls: 9, Tokens: 3}: "the limit is 9 calls and 3 tokens",
	} {
		t.Run(want, func(t *testing.T) {
			err := b.reserve(t.Context(), []Account{{"x", limit}}, hold{"a", Amount{2, 5}})
			if err == nil || !strings.HasSuffix(err.Error(), "needs 5 tokens; "+want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

type says bool

func (s says) Refused() bool { return bool(s) }
func (says) Error() string   { return "it failed" }

func TestOnlyRefusedCallsCostNothing(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	held, usage := Amount{1, 500}, agent.Usage{Input: 20, Output: 22}
	for _, c := range []struct {
		name  string
		err   error
		usage agent.Usage
		want  Amount
	}{
		{"Reply", nil, usage, Amount{1, 42}}, {"NoUsage", nil, agent.Usage{}, held},
		{"NegativeUsage", nil, agent.Usage{Input: -9}, held},
		{"CutStream", io.ErrUnexpectedEOF, agent.Usage{}, held}, {"CutWithUsage", io.ErrUnexpectedEOF, usage, held},
		{"Late", context.DeadlineExceeded, agent.Usage{}, held}, {"Cancelled", context.Canceled, agent.Usage{}, held},
		{"Reset", reset, agent.Usage{}, held}, {"Dial", dial, agent.Usage{}, Amount{}},
		{"WrappedDial", fmt.Errorf("post: %w", &url.Error{Op: "Post", Err: dial}), agent.Usage{}, Amount{}},
		{"NoHost", &net.DNSError{IsNotFound: true}, agent.Usage{}, Amount{}},
		{"TooLong", fmt.Errorf("a: %w", &agent.PromptTooLong{}), agent.Usage{}, Amount{}},
		{"Refused", fmt.Errorf("a: %w", says(true)), agent.Usage{}, Amount{}},
		{"NotRefused", says(false), agent.Usage{}, held},
		{"AllRefused", errors.Join(dial, says(true)), agent.Usage{}, Amount{}},
		{"OneRefused", errors.Join(io.ErrUnexpectedEOF, dial), agent.Usage{}, held},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := costOf(held, agent.LLMResponse{Usage: c.usage}, c.err); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestFailedCallsStayWithinTheLimit: a hook calls a model again that fails each time, until the account is used up.
func TestFailedCallsStayWithinTheLimit(t *testing.T) {
	for _, c := range []struct {
		name      string
		err       error
		ended     bool // the hook ends the context before each call
		maxTokens int  // of the request
		calls     int  // that reach the model
		spent     Amount
	}{
		{name: "Cut", err: io.ErrUnexpectedEOF, calls: 2, spent: Amount{2, 2 * (1 + 4 + 400)}},
		{name: "CutShort", err: io.ErrUnexpectedEOF, maxTokens: 95, calls: 10, spent: Amount{10, 10 * (1 + 4 + 95)}},
		{name: "Refused", err: says(true), calls: 30}, {name: "Ended", err: io.ErrUnexpectedEOF, ended: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				calls, asked := 0, 0
				model := looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
					calls++
					asked += req.MaxTokens
					return agent.LLMResponse{}, c.err
				})
				again := agent.AroundLLMFunc(func(
					ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
				) (answer hookkit.Answer[agent.LLMResponse], err error) {
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					if c.ended {
						cancel()
					}
					for range 30 {
						if answer, err = next.Call(ctx, req); errors.Is(err, ErrSpent) {
							break
						}
					}
					return answer, err
				})
				agents := clerk(looptest.NewScript(slices.Repeat([]looptest.Turn{model}, 30)...))
				agents["clerk"].Use, agents["clerk"].Request.MaxTokens = []agent.Hook{again}, c.maxTokens
				limit := Account{"x", Amount{Tokens: 1000}}
				w := &Worker{Store: store, Logger: quiet, Agents: agents, MaxReply: 400,
					Accounts: func(Task) []Account { return []Account{limit} }}
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				work(t, w, func(ctx context.Context) {
					if r, err := client.Wait(ctx, "a"); err != nil || r.State != Failed {
						t.Errorf("%+v, %v", r, err)
					}
				})
				b, err := client.Balance(t.Context(), "x")
				if err != nil || b.Spent != c.spent || len(b.Held) > 0 || calls != c.calls {
					t.Errorf("%+v, %v after %d calls", b, err, calls)
				}
				if c.maxTokens == 0 && asked != calls*w.MaxReply {
					t.Errorf("%d calls ask for replies of %d tokens together", calls, asked)
				}
			})
		})
	}
}

func TestStrangeAccountEndsItsRuns(t *testing.T) {
	store := newMemory(simLifetime).store()
	if err := store.Table.Put(t.Context(), accountKey("x"), []byte("hello"), 0); err != nil {
		t.Fatal(err)
	}
	client := NewClient(store)
	if err := client.Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	accounts := func(Task) []Account { return []Account{{Name: "x"}} }
	w := &Worker{Store: store, Logger: quiet, Agents: clerk(looptest.NewScript()), Accounts: accounts}
	work(t, w, func(ctx context.Context) {
		if r, err := client.Wait(ctx, "a"); err != nil || r.State != Failed || !strings.Contains(r.Err, "another program") {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
