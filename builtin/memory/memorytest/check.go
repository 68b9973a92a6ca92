package memorytest

import (
	"context"
	_ "embed" // for the calls
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Check runs the conformance suite for implementations of [memory.Store]. The function open returns a new, empty store
// each time, whose timestamps come from the clock. For example:
//
//	memorytest.Check(t, func(_ *testing.T, clock agent.Clock) memory.Store { return &memory.Facts{Clock: clock} })
//
// The suite checks the history of facts, that a search finds and orders facts and says how many it leaves out, that
// owners are apart and see the common memory, that a done context changes nothing, and that concurrent calls are safe.
// Run it with the race detector too.
func Check(t *testing.T, open func(t *testing.T, clock agent.Clock) memory.Store) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			clock := &clock{now: begin}
			c.check(suite{t, open(t, clock), clock, t.Context()})
		})
	}
}

// A check is one of an empty store.
type check struct {
	name  string
	check func(suite)
}

// calls are the calls of the checks that need nothing else. Each check begins with a line "## name".
//
//go:embed check.txt
var calls string

func checks() []check {
	all := []check{
		{"the last 500 episodes are kept", checkEpisodes},
		{"texts are stored unchanged", checkTexts},
		{"empty keys are errors", checkEmptyKeys},
		{"owners are apart", checkOwners},
		{"done contexts have no effect", checkDoneContext},
		{"concurrent calls are safe", checkConcurrent},
	}
	for _, section := range strings.Split(calls, "\n## ")[1:] {
		name, lines, _ := strings.Cut(section, "\n")
		all = append(all, check{name, func(s suite) {
			for line := range strings.Lines(lines) {
				if line = strings.TrimSpace(line); line != "" {
					s = s.run(line)
				}
			}
		}})
	}
	return all
}

// begin is the first time of the clock, with the precision of a Fact.
var begin = time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)

// A clock moves only when a check advances it.
type clock struct {
	agent.SystemClock
	mu  sync.Mutex
	now time.Time
}

// Now implements agent.Clock.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// A suite is a check of one store, for the owner of its context.
type suite struct {
	testing.TB
	store memory.Store
	clock *clock
	ctx   context.Context
}

// as returns the suite for another owner.
func (s suite) as(id agent.Identity) suite {
	s.ctx = agentspec.WithIdentity(s.ctx, id)
	return s
}

// run makes a call and checks its result. It returns the suite for the next call.
func (s suite) run(line string) suite {
	s.Helper()
	call, want, _ := strings.Cut(line, " =")
	words := append(strings.Fields(call), "", "")
	option := make(map[string]string)
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		option[name] = value
	}
	arg, scope := words[1], option["in"]
	got := ""
	switch words[0] {
	case "as":
		owner := agent.Identity{}
		if n, err := strconv.Atoi(arg); err == nil {
			owner = owners[n]
		}
		return s.as(owner)
	case "wait":
		s.wait(duration(arg))
	case "put":
		s.put(memory.Fact{Key: arg, Value: spaced(words[2]), Scope: scope, Source: option["by"]})
	case "forget":
		had, err := s.store.Forget(s.ctx, arg, scope)
		if err != nil {
			s.Fatalf("%s: %v", line, err)
		}
		got = fmt.Sprint(had)
	case "search":
		q := memory.Query{Text: spaced(option["text"]), Scope: scope}
		q.Limit, _ = strconv.Atoi(option["limit"])
		if at, ok := option["at"]; ok {
			q.AsOf = begin.Add(duration(at))
		}
		got = s.search(q)
	case "history":
		got = s.history(arg, scope)
	}
	want, more := strings.CutSuffix(spaced(want), "*")
	if want = strings.TrimSpace(want); got != want && !(more && strings.HasPrefix(got, want)) {
		s.Errorf("%s\nreturned %q", line, got)
	}
	return s
}

func spaced(text string) string { return strings.ReplaceAll(text, "_", " ") }

func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

func (s suite) wait(d time.Duration) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.now = s.clock.now.Add(d)
}

// put stores facts, with values in the fields that a store ignores, and waits for a second.
func (s suite) put(facts ...memory.Fact) {
	s.Helper()
	for i := range facts {
		f := &facts[i]
		f.ID, f.Supersedes, f.ValidTo, f.UpdatedAt = "mine", "x", begin, begin
	}
	if err := s.store.Put(s.ctx, facts...); err != nil {
		s.Fatalf("Put(%.300v): %v", facts, err)
	}
	s.wait(time.Second)
}

// facts returns the facts that a query finds, and how many more there are.
func (s suite) facts(q memory.Query) ([]memory.Fact, int) {
	s.Helper()
	found, more, err := s.store.Search(s.ctx, q)
	if err != nil {
		s.Fatalf("Search(%+v): %v", q, err)
	}
	return found, more
}

// search returns the values that a query finds, and how many more there are.
func (s suite) search(q memory.Query) string {
	s.Helper()
	found, more := s.facts(q)
	var texts []string
	for _, f := range found {
		texts = append(texts, f.Value)
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("+%d", more))
	}
	return strings.Join(texts, " ")
}

// history returns the facts of a key and scope as text.
func (s suite) history(key, scope string) string {
	s.Helper()
	all, err := s.store.History(s.ctx, key, scope)
	if err != nil {
		s.Fatalf("History(%q, %q): %v", key, scope, err)
	}
	seconds := func(t time.Time) string { return fmt.Sprint(t.Sub(begin).Seconds()) }
	values := make(map[string]string)
	var texts []string
	for _, f := range all {
		if _, twice := values[f.ID]; twice || f.ID == "" || f.ID == "mine" {
			s.Errorf("the ID %q is not one of the store", f.ID)
		}
		values[f.ID] = f.Value
		text := f.Value + ":" + seconds(f.ValidFrom) + "-"
		if !f.Current() {
			text += seconds(f.ValidTo)
		}
		text += "@" + seconds(f.UpdatedAt)
		if f.Source != "" {
			text += "(" + f.Source + ")"
		}
		if f.Supersedes != "" {
			text += "<" + values[f.Supersedes]
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

func checkEpisodes(s suite) {
	for i := 0; i < 503; i += 5 {
		var facts []memory.Fact
		for j := i; j < min(i+5, 503); j++ {
			facts = append(facts, memory.Fact{Key: "same", Value: fmt.Sprint(j), Scope: memory.EpisodeScope})
		}
		s.put(facts...)
	}
	all, _ := s.facts(memory.Query{Scope: memory.EpisodeScope})
	if len(all) != 500 || all[0].Value != "502" || all[499].Value != "3" {
		s.Fatalf("Search returned %d episodes, %.200v; want the last 500, the newest first", len(all), all)
	}
}

func checkTexts(s suite) {
	for _, text := range []string{
		"a'; DROP TABLE facts; --", "%", "_", "a\x00b", "\u2028\n", "ä", "😀", " ", strings.Repeat("long ", 10_000),
	} {
		s.put(memory.Fact{Key: text, Value: text, Scope: text, Source: text})
		f, _ := s.facts(memory.Query{Scope: text})
		if len(f) != 1 || f[0].Key != text || f[0].Value != text || f[0].Scope != text || f[0].Source != text {
			s.Errorf("the fact with the text %.40q came back as %.200v", text, f)
		}
	}
}

func checkEmptyKeys(s suite) {
	if s.store.Put(s.ctx, memory.Fact{Key: "k", Value: "v"}, memory.Fact{Value: "v"}) == nil {
		s.Errorf("Put without a key was accepted; want an error")
	}
	s.run("search =")
	s.put()
}

// owners are different owners that are equal once their names are joined carelessly.
var owners = []agent.Identity{
	{Tenant: "t", User: "u", Conversation: "c"},
	{Tenant: "t", User: "u", Conversation: "d"},
	{Tenant: "t", User: "u/c", Conversation: "c"},
	{Tenant: "t/u", Conversation: "c"},
	{Tenant: "x", User: "u", Conversation: "c"},
	{User: "u", Conversation: "c"},
	{Conversation: "c"},
	{Conversation: "run 0123456789abcdef"}, // of a run without a named conversation
}

func checkOwners(s suite) {
	scopes := []string{"", " in=preference", " in=episode"}
	for i, id := range owners {
		for _, scope := range scopes {
			s.as(id).run(fmt.Sprint("put key ", i, scope))
		}
	}
	for _, scope := range scopes {
		s.run("search" + scope + " =")
	}
	for i, id := range owners {
		for _, scope := range append(scopes, " at=1h", fmt.Sprint(" text=", i)) {
			s.as(id).run(fmt.Sprint("search", scope, " = ", i))
		}
		s.as(id).run(fmt.Sprintf("history key = %d:%d-@%[2]d", i, 3*i))
	}
	s.as(owners[0]).run("forget key = true")
	s.as(owners[1]).run("search = 1")
}

func checkDoneContext(s suite) {
	s.run("put k v")
	done, cancel := context.WithCancel(s.ctx)
	cancel()
	_, _, searched := s.store.Search(done, memory.Query{})
	_, recalled := s.store.History(done, "k", "")
	_, forgotten := s.store.Forget(done, "k", "")
	for method, err := range map[string]error{
		"Put": s.store.Put(done, memory.Fact{Key: "k", Value: "w"}), "Search": searched, "History": recalled,
		"Forget": forgotten,
	} {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s with a done context returned %v; want the error of the context", method, err)
		}
	}
	s.run("search = v")
}

func checkConcurrent(s suite) {
	const writers, times = 4, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range times {
				err := s.store.Put(s.ctx, memory.Fact{Key: fmt.Sprint(w, i), Value: "v"},
					memory.Fact{Key: "shared", Value: fmt.Sprint(w, i)})
				_, _, failed := s.store.Search(s.ctx, memory.Query{})
				if err = errors.Join(err, failed); err != nil {
					s.Error(err)
				}
			}
		})
	}
	all.Wait()
	if found, _ := s.facts(memory.Query{}); len(found) != writers*times+1 {
		s.Errorf("%d facts are stored; want %d", len(found), writers*times+1)
	}
	shared, err := s.store.History(s.ctx, "shared", "")
	for i, f := range shared {
		if i > 0 && f.Supersedes != shared[i-1].ID || f.Current() != (i == len(shared)-1) {
			s.Fatalf("the history breaks at %d: %+v", i, f)
		}
	}
	if len(shared) != writers*times || err != nil {
		s.Errorf("the history of the shared fact has %d values, %v; want %d", len(shared), err, writers*times)
	}
}
