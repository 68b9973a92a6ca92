package retry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A table has the tools read, which changes nothing, and write.
type table struct{ agent.ToolTable }

func (table) Lookup(name string) (agent.ToolSchema, bool) {
	return agent.ToolSchema{Name: name, ReadOnly: strings.HasPrefix(name, "read")}, true
}

// A desk passes calls through a cache.
type desk struct {
	t     *testing.T
	hooks *agent.Hooks
	clock *walkingClock
	mu    sync.Mutex
	ran   []string
}

func newDesk(t *testing.T, hook agent.Hook) *desk {
	return &desk{t: t, hooks: using(hook), clock: newWalkingClock()}
}

// call makes a call for a user such as "bob", or "bob with agent", and returns its output. The tool calls meanwhile, if
// it is not nil.
func (d *desk) call(user, tool, args string, meanwhile func()) string {
	d.t.Helper()
	user, name, _ := strings.Cut(user, " with ")
	run := agent.NewRun(&agent.Env{Clock: d.clock, User: user, Agent: name, Tools: table{}})
	request := agent.ToolCallRequest{Name: tool, Args: json.RawMessage(args)}
	result, err := d.hooks.AroundTool.Fire(d.t.Context(), run, request,
		func(_ context.Context, call agent.ToolCallRequest) (agent.ToolCallResult, error) {
			if meanwhile != nil {
				meanwhile()
			}
			if strings.Contains(args, "fail") {
				return agent.ToolCallResult{}, errors.New("failed")
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.ran = append(d.ran, call.Name)
			warning := "old"
			if strings.Contains(args, "long") {
				warning = strings.Repeat("x", 5000)
			}
			return agent.ToolCallResult{Output: fmt.Sprint(len(d.ran)), Warnings: []string{warning}}, nil
		})
	if err != nil {
		return err.Error()
	}
	if len(result.Warnings) > 0 {
		result.Warnings[0] = "changed" // the caller owns the result
	}
	return result.Output
}

func TestRepeatedReadsAreAnsweredFromCache(t *testing.T) {
	type call struct{ user, tool, args, want string }
	hour := call{tool: "wait"}
	read := func(user, args, want string) call { return call{user, "read", args, want} }
	write := func(user, args, want string) call { return call{user, "write", args, want} }
	for _, c := range []struct {
		name  string
		hook  *retry.Cache
		calls []call
	}{
		{"same arguments", &retry.Cache{}, []call{read("a", `{"x":1,"y":2}`, "1"), read("a", `{"y":2, "x":1.0}`, "1")}},
		{"other arguments", &retry.Cache{}, []call{read("a", `{"x":1}`, "1"), read("a", `{"x":2}`, "2")}},
		{"other tool", &retry.Cache{}, []call{read("a", `{}`, "1"), {"a", "read2", `{}`, "2"}}},
		{"other user", &retry.Cache{}, []call{read("a", `{}`, "1"), read("b", `{}`, "2"), read("a", `{}`, "1")}},
		{"other agent", &retry.Cache{}, []call{
			read("a with public", `{}`, "1"), read("a with admin", `{}`, "2"), read("a with public", `{}`, "1"),
		}},
		{"a write of another agent removes reads", &retry.Cache{}, []call{
			read("a with public", `{}`, "1"), write("a with admin", `{}`, "2"), read("a with public", `{}`, "3"),
		}},
		{"shared", &retry.Cache{Share: share.Everyone}, []call{read("a", `{}`, "1"), read("b", `{}`, "1")}},
		{"too old", &retry.Cache{}, []call{read("a", `{}`, "1"), hour, read("a", `{}`, "2"), read("a", `{}`, "2")}},
		{"never too old", &retry.Cache{MaxAge: limit.None}, []call{read("a", `{}`, "1"), hour, read("a", `{}`, "1")}},
		{"not listed", &retry.Cache{Tools: []string{"x"}}, []call{read("a", `{}`, "1"), read("a", `{}`, "2")}},
		{"writes are not kept", &retry.Cache{}, []call{write("a", `{}`, "1"), write("a", `{}`, "2")}},
		{"a write removes reads", &retry.Cache{},
			[]call{read("a", `{}`, "1"), write("a", `{}`, "2"), read("a", `{}`, "3")}},
		{"a failed write too", &retry.Cache{},
			[]call{read("a", `{}`, "1"), write("a", `"fail"`, "failed"), read("a", `{}`, "2")}},
		{"not those of others", &retry.Cache{},
			[]call{read("a", `{}`, "1"), write("b", `{}`, "2"), read("a", `{}`, "1")}},
		{"failures are not kept", &retry.Cache{}, []call{read("a", `"fail"`, "failed"), read("a", `"fail"`, "failed")}},
		{"no room", &retry.Cache{MaxBytes: limit.AtMost(0)}, []call{read("a", `{}`, "1"), read("a", `{}`, "2")}},
		{"a long result leaves the others", &retry.Cache{MaxBytes: 1100}, []call{
			read("a", `{}`, "1"), read("b", `"long"`, "2"), read("a", `{}`, "1"), read("b", `"long"`, "3"),
		}},
		{"room for two", &retry.Cache{MaxBytes: 1100}, []call{
			read("a", `1`, "1"), read("a", `2`, "2"), read("a", `1`, "1"), read("b", `3`, "3"),
			read("a", `1`, "1"), read("a", `2`, "4"),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.hook.Tools == nil {
				c.hook.Tools = []string{"*"}
			}
			if c.hook.Share == share.Conversation {
				c.hook.Share = share.User
			}
			d := newDesk(t, c.hook)
			for i, call := range c.calls {
				if call == hour {
					d.clock.advance(time.Hour)
					continue
				}
				if got := d.call(call.user, call.tool, call.args, nil); got != call.want {
					t.Errorf("call %d: %s, want %s", i, got, call.want)
				}
			}
		})
	}
}

func TestReadDuringWriteIsNotKept(t *testing.T) {
	newCache := func() agent.Hook { return &retry.Cache{Tools: []string{"*"}, Share: share.User} }
	t.Run("read within a write", func(t *testing.T) {
		d := newDesk(t, newCache())
		d.call("a", "write", `{}`, func() { d.call("a", "read", `{}`, nil) })
		if got := d.call("a", "read", `{}`, nil); got != "3" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("read of a kept result within a write", func(t *testing.T) {
		d, got := newDesk(t, newCache()), ""
		d.call("a", "read", `{}`, nil)
		d.call("a", "write", `{}`, func() { got = d.call("a", "read", `{}`, nil) })
		if got != "2" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("write within a read", func(t *testing.T) {
		d := newDesk(t, newCache())
		d.call("a", "read", `{}`, func() { d.call("a", "write", `{}`, nil) })
		if got := d.call("a", "read", `{}`, nil); got != "3" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("read that ends after a write", func(t *testing.T) {
		d := newDesk(t, newCache())
		d.call("a", "read", `1`, func() {
			d.call("a", "write", `{}`, nil)
			d.call("a", "read", `2`, nil)
		})
		if first, second := d.call("a", "read", `2`, nil), d.call("a", "read", `1`, nil); first != "2" || second != "4" {
			t.Errorf("got %s, %s", first, second)
		}
	})
}

func TestDeniedCallIsNotAnsweredFromCache(t *testing.T) {
	read := &looptest.Tool{Name: "read", Result: "secret"}
	denied := false
	deny := agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if denied {
			return agent.Deny{Reason: "not now"}, nil
		}
		denied = true
		return nil, nil
	})
	ran := looptest.Harness{
		Tools: []agent.Tool{loop.ReadOnly(read)}, Hooks: []agent.Hook{&retry.Cache{Tools: []string{"*"}}, deny},
		Turns: []looptest.Turn{looptest.Call("read", nil), looptest.Call("read", nil), looptest.Reply("done")},
	}.Run(t, "go")
	if got := fixture.Statuses(ran); !strings.Contains(got, "refused") || ran.Calls[1].Output == "secret" {
		t.Errorf("statuses %s, %+v", got, ran.Calls[1])
	}
}

func TestCacheIsSafeForConcurrentUse(t *testing.T) {
	d := newDesk(t, &retry.Cache{Tools: []string{"*"}, Share: share.User, MaxBytes: 4000})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 100 {
				d.call(fmt.Sprint(w%3), []string{"read", "write"}[i%10/9], fmt.Sprint(i%7), nil)
			}
		})
	}
	all.Wait()
	if first, again := d.call("x", "read", `{}`, nil), d.call("x", "read", `{}`, nil); first != again ||
		slices.Index(d.ran, "write") < 0 {
		t.Errorf("got %s, then %s", first, again)
	}
}
