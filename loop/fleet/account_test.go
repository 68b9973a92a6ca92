package fleet

import (
	"context"
	"encoding/json"
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
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/loop/testdata/releases"
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
		if balance, _, _, err := b.balance(t.Context(), name); err != nil || balance.Total().Calls != 1 {
			t.Errorf("%s: %+v, %v", name, balance, err)
		}
	}
}

func TestErrorNamesTheLimit(t *testing.T) {
	b := bank{table: newMemory(simLifetime).store().Table, clock: agent.SystemClock{}}
	for limit, want := range map[Amount]string{
		{Calls: 1}: "the limit is 1 calls", {Tokens: 3}: "the limit is 3 tokens",
		{Calls: 9, Tokens: 3}: "the limit is 9 calls and 3 tokens", {Cost: 0.5}: "the limit is a cost of 0.5",
	} {
		t.Run(want, func(t *testing.T) {
			err := b.reserve(t.Context(), []Account{{"x", limit}}, hold{"a", Amount{Calls: 2, Tokens: 5, Cost: 0.7}})
			if err == nil || !strings.HasSuffix(err.Error(), "needs 2 calls and 5 tokens and a cost of 0.7; "+want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A tokenPrice is the cost of a token of a reply. Writing a prompt to the cache costs one. A negative one is unknown.
type tokenPrice float64

func (p tokenPrice) Price(_ agent.LLMRequest, reply agent.LLMResponse) (float64, bool) {
	return float64(p)*float64(reply.Usage.Output) + float64(reply.Usage.CacheWrite), p >= 0
}

// TestMoneyIsLimitedAcrossRuns: each call may cost as much as the longest reply and a cached prompt do, and costs less.
// Runs of one account stop before they exceed it. Nothing is called whose price is unknown.
func TestMoneyIsLimitedAcrossRuns(t *testing.T) {
	for name, c := range map[string]struct {
		price tokenPrice
		limit float64
		calls int // until the account is used up
		err   string
	}{
		"Used":    {0.25, 120, 3, "and a cost of 120"}, // 25 a call, of at most 100 and the prompt
		"Free":    {0, 120, 4, ""},
		"Unknown": {-1, 120, 0, "the price of the model"},
		"None":    {-1, 0, 4, ""}, // the account limits something else
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				calls := 0
				model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
					calls++
					return agent.LLMResponse{Content: "done", Usage: agent.Usage{Input: 5, Output: 100}}
				})
				w := &Worker{Store: store, Logger: quiet, Slots: 1, Agents: clerk(model), MaxReply: 200, Prices: c.price,
					Accounts: func(Task) []Account { return []Account{{"x", Amount{Calls: 9, Cost: c.limit}}} }}
				work(t, w, func(ctx context.Context) {
					for i := range 4 {
						err := client.Submit(ctx, task(fmt.Sprint(i)))
						r, failed := client.Wait(ctx, fmt.Sprint(i))
						if spent := i >= c.calls; err != nil || failed != nil || (r.State == Failed) != spent ||
							spent && !strings.Contains(r.Err, c.err) {
							t.Errorf("%d: %+v, %v, %v", i, r, err, failed)
						}
					}
				})
				b, err := client.Balance(t.Context(), "x")
				want := Amount{Calls: c.calls, Tokens: 105 * c.calls, Cost: max(0, float64(c.price)) * 100 * float64(c.calls)}
				if err != nil || calls != c.calls || b.Spent != want || len(b.Held) > 0 {
					t.Errorf("%d calls, %+v, %v, want %+v", calls, b, err, want)
				}
			})
		})
	}
}

type says bool

func (s says) Refused() bool { return bool(s) }
func (says) Error() string   { return "it failed" }

func TestOnlyRefusedCallsCostNothing(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	held, usage := Amount{Calls: 1, Tokens: 500}, agent.Usage{Input: 20, Output: 22}
	for _, c := range []struct {
		name  string
		err   error
		usage agent.Usage
		want  Amount
	}{
		{"Reply", nil, usage, Amount{Calls: 1, Tokens: 42}}, {"NoUsage", nil, agent.Usage{}, held},
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
		{name: "Cut", err: io.ErrUnexpectedEOF, calls: 2, spent: Amount{Calls: 2, Tokens: 2 * (1 + 4 + 400)}},
		{name: "CutShort", err: io.ErrUnexpectedEOF, maxTokens: 95, calls: 10,
			spent: Amount{Calls: 10, Tokens: 10 * (1 + 4 + 95)}},
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
				agents["clerk"].Hooks, agents["clerk"].Request.MaxTokens = loop.Hooks(again), c.maxTokens
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

// TestAccountsOfOtherReleases: an unknown field is kept. While an account has another type, its runs wait.
func TestAccountsOfOtherReleases(t *testing.T) {
	held := map[string]Amount{"b/1/1": {Calls: 3, Tokens: 4}}
	stored, err := json.Marshal(Balance{Spent: Amount{Calls: 1, Tokens: 2}, Held: held})
	if err != nil {
		t.Fatal(err)
	}
	good, count := stored, 0
	for what, data := range releases.Of(stored) {
		count++
		readable := strings.HasPrefix(what, "field") && what != "field of .held" // all in held are amounts
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(simLifetime)
			put := func(data []byte) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.tables[accountKey("x")] = tableEntry{data, m.next()}
			}
			put(data)
			client := NewClient(m.store())
			if err := client.Submit(t.Context(), task("a")); err != nil {
				t.Fatal(err)
			}
			model := agentModel(func(agent.LLMRequest) agent.LLMResponse {
				return agent.LLMResponse{Content: "done", Usage: agent.Usage{Input: 10}}
			})
			w := &Worker{Store: m.store(), Logger: quiet, Agents: clerk(model), Accounts: func(Task) []Account {
				return []Account{{Name: "x", Limit: Amount{Calls: 9}}}
			}}
			work(t, w, func(ctx context.Context) {
				time.Sleep(5 * time.Minute)
				s, err := client.Status(ctx, "a")
				_, balanced := client.Balance(ctx, "x")
				if err != nil || readable != (s.State == Done) || s.State.Final() != readable || s.Claims > 1 ||
					readable != (balanced == nil) || !readable && !errors.Is(balanced, ErrUnreadable) {
					t.Errorf("%s: %+v, %v, %v", what, s, err, balanced)
				}
				if !readable {
					put(good)
				}
				if r, err := client.Wait(ctx, "a"); err != nil || r.State != Done || r.Claims != 1 {
					t.Errorf("%s: %+v, %v", what, r, err)
				}
				b, err := client.Balance(ctx, "x")
				if err != nil || b.Spent != (Amount{Calls: 2, Tokens: 12}) || b.Held["b/1/1"] != (Amount{Calls: 3, Tokens: 4}) {
					t.Errorf("%s: %+v, %v", what, b, err)
				}
			})
			now := string(m.tables[accountKey("x")].value)
			if strings.Contains(now, "added_later") != readable {
				t.Errorf("%s: stored as %s", what, now)
			}
		})
	}
	if count < 10 {
		t.Errorf("only %d changes", count)
	}
}

// TestHoldsOfOtherReleasesAreNotCharged: a newer worker has stopped in a call of the model, and its reservation has a
// field that this release cannot charge.
func TestHoldsOfOtherReleasesAreNotCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(simLifetime)
		const stored = `{"spent":{"calls":1,"tokens":2},"held":{"a/1/1":{"calls":1,"tokens":5,"euros":7}}}`
		m.tables[accountKey("x")] = tableEntry{[]byte(stored), m.next()}
		client := NewClient(m.store())
		if err := client.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		w := &Worker{Store: m.store(), Logger: quiet, Agents: clerk(looptest.NewScript()),
			Accounts: func(Task) []Account { return []Account{{Name: "x"}} }}
		work(t, w, func(context.Context) { time.Sleep(5 * time.Minute) })
		if got := string(m.tables[accountKey("x")].value); got != stored || len(m.logs["a"]) != 1 || w.Stats().Left != 1 {
			t.Errorf("%s, %d events, %+v", got, len(m.logs["a"]), w.Stats())
		}
	})
}

// TestAccountsChangeDuringARun: an account becomes unreadable between a claim and its calls, or during a call.
func TestAccountsChangeDuringARun(t *testing.T) {
	for _, during := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(simLifetime)
			put := func(data string) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.tables[accountKey("x")] = tableEntry{[]byte(data), m.next()}
			}
			client := NewClient(m.store())
			if err := client.Submit(t.Context(), task("a")); err != nil {
				t.Fatal(err)
			}
			broken := false
			spoil := func() {
				if !broken {
					broken = true
					put(`{"spent":7}`)
				}
			}
			agents := clerk(agentModel(func(agent.LLMRequest) agent.LLMResponse {
				if during {
					spoil()
				}
				return agent.LLMResponse{Content: "done"}
			}))
			agents["clerk"].Hooks = loop.Hooks(agent.BeforeLLMFunc(func(
				context.Context, *agent.Run, agent.LLMRequest,
			) (agent.BeforeLLMOutcome, error) {
				if !during {
					spoil()
				}
				return nil, nil
			}))
			w := &Worker{Store: m.store(), Logger: quiet, Agents: agents, Tries: 1,
				Accounts: func(Task) []Account { return []Account{{Name: "x", Limit: Amount{Calls: 9}}} }}
			work(t, w, func(ctx context.Context) {
				time.Sleep(10 * time.Minute)
				if s, err := client.Status(ctx, "a"); err != nil || s.State != Queued || s.Claims != 1 {
					t.Errorf("%+v, %v", s, err)
				}
				put(`{}`)
				if r, err := client.Wait(ctx, "a"); err != nil || r.State != Done || r.Claims != 2 {
					t.Errorf("%+v, %v", r, err)
				}
			})
		})
	}
}

// FuzzAccounts stores an account again. The amounts that it has spent and holds must stay.
func FuzzAccounts(f *testing.F) {
	for _, data := range []string{
		`{"spent":{"calls":1,"tokens":2,"more":3},"held":{"a":{"calls":1,"more":{}}},"more":[]}`, `null`, `{"spent":null}`,
		`{"SPENT":{"calls":1}}`, `{"held":{"a":null}}`, `[]`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after Balance
		if json.Unmarshal(data, &before) != nil {
			return
		}
		stored, err := before.encode(data)
		if err == nil {
			err = json.Unmarshal(stored, &after)
		}
		if err != nil || after.Spent != before.Spent {
			t.Errorf("%s was stored as %s, %v", data, stored, err)
		}
		for id, amount := range before.Held {
			if after.Held[id] != amount {
				t.Errorf("%s was stored as %s", data, stored)
			}
		}
	})
}
