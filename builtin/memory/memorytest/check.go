package memorytest

import (
	"context"
	"errors"
	"fmt"
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
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			clock := &clock{now: begin}
			c.check(suite{t, open(t, clock), clock, t.Context()})
		})
	}
}

// checks are the checks of Check, each of an empty store.
var checks = []struct {
	name  string
	check func(suite)
}{
	{"new values replace old facts", checkHistory},
	{"equal values only update the time", checkEqualValue},
	{"forgotten facts stay in the history", checkForget},
	{"facts are listed newest first", checkOrder},
	{"facts are found by their words", checkWords},
	{"what a search leaves out is counted", checkLimit},
	{"the last 500 episodes are kept", checkEpisodes},
	{"many facts are kept", checkMany},
	{"texts are stored unchanged", checkTexts},
	{"empty keys are errors", checkEmptyKeys},
	{"owners are apart", checkOwners},
	{"owners see the common memory", checkCommon},
	{"done contexts have no effect", checkDoneContext},
	{"concurrent calls are safe", checkConcurrent},
}

// begin is the first time of the clock, with the precision of a Fact.
var begin = time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)

// A clock moves only when a check advances it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now implements agent.Clock.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep implements agent.Clock. It returns at once.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return ctx.Err()
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

func (s suite) wait(d time.Duration) { _ = s.clock.Sleep(context.Background(), d) }

// put stores facts, and waits for a second.
func (s suite) put(facts ...memory.Fact) {
	s.Helper()
	if err := s.store.Put(s.ctx, facts...); err != nil {
		s.Fatalf("Put(%.300v): %v", facts, err)
	}
	s.wait(time.Second)
}

func (s suite) search(q memory.Query) []memory.Fact {
	s.Helper()
	found, _, err := s.store.Search(s.ctx, q)
	if err != nil {
		s.Fatalf("Search(%+v): %v", q, err)
	}
	return found
}

func (s suite) history(key, scope string) []memory.Fact {
	s.Helper()
	all, err := s.store.History(s.ctx, key, scope)
	if err != nil {
		s.Fatalf("History(%.40q, %.40q): %v", key, scope, err)
	}
	return all
}

// forget checks that a fact can be forgotten, or that there is none.
func (s suite) forget(what, key, scope string, want bool) {
	s.Helper()
	if had, err := s.store.Forget(s.ctx, key, scope); had != want || err != nil {
		s.Errorf("%s: %t, %v; want %t", what, had, err, want)
	}
}

// finds checks the values that a query finds.
func (s suite) finds(q memory.Query, want string) {
	s.Helper()
	if found := values(s.search(q)); found != want {
		s.Errorf("the query %+v finds %q; want %q", q, found, want)
	}
}

// values returns the values of facts, separated by blanks.
func values(facts []memory.Fact) string {
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Value
	}
	return strings.Join(texts, " ")
}

func checkHistory(s suite) {
	end := begin.Add(time.Second)
	s.put(memory.Fact{Key: "city", Value: "Oslo", Source: "user"})
	s.put(memory.Fact{ID: "mine", Key: "city", Value: "Rome", ValidTo: begin, Supersedes: "x", UpdatedAt: begin})
	all := s.history("city", "")
	if values(all) != "Oslo Rome" {
		s.Fatalf("History returned %+v; want both facts, the oldest first", all)
	}
	first, second := all[0], all[1]
	if first.ID == "" || first.Scope != memory.GlobalScope || first.Source != "user" || !first.ValidFrom.Equal(begin) ||
		!first.UpdatedAt.Equal(begin) || !first.ValidTo.Equal(end) || first.Supersedes != "" {
		s.Errorf("the replaced fact is %+v; want it closed at the time of the new one", first)
	}
	if second.ID == "mine" || second.ID == first.ID || second.Supersedes != first.ID || !second.Current() ||
		!second.ValidFrom.Equal(end) || !second.UpdatedAt.Equal(end) {
		s.Errorf("the new fact is %+v; want a current one with a new ID that supersedes %s", second, first.ID)
	}
	s.finds(memory.Query{}, "Rome")
	for after, want := range map[time.Duration]string{
		-time.Second: "", 0: "Oslo", time.Second - 1000: "Oslo", time.Second: "Rome", time.Hour: "Rome",
	} {
		s.finds(memory.Query{AsOf: begin.Add(after)}, want)
	}
	if none := s.history("city", "elsewhere"); len(none) != 0 {
		s.Errorf("History of another scope returned %+v", none)
	}
	s.wait(-time.Hour) // somebody sets the clock back
	s.put(memory.Fact{Key: "city", Value: "Bern"})
	if all := s.history("city", ""); values(all) != "Oslo Rome Bern" || !all[2].Current() {
		s.Errorf("after the clock was set back, History returned %+v; want the facts in the order of Put", all)
	}
}

func checkEqualValue(s suite) {
	for _, source := range []string{"a", "b", "c"} {
		s.put(memory.Fact{Key: "k", Value: "v", Source: source})
	}
	all := s.history("k", "")
	if len(all) != 1 || !all[0].ValidFrom.Equal(begin) || !all[0].UpdatedAt.Equal(begin.Add(2*time.Second)) ||
		all[0].Source != "a" || !all[0].Current() {
		s.Errorf("History returned %+v; want one fact with the time of the last Put", all)
	}
}

func checkForget(s suite) {
	s.put(memory.Fact{Key: "k", Value: "v", Scope: "here"})
	s.forget("Forget in another scope", "k", "", false)
	s.forget("Forget", "k", "here", true)
	s.forget("a second Forget", "k", "here", false)
	s.finds(memory.Query{Scope: "here"}, "")
	if all := s.history("k", "here"); len(all) != 1 || !all[0].ValidTo.Equal(begin.Add(time.Second)) {
		s.Errorf("History returned %+v; want the closed fact", all)
	}
	s.put(memory.Fact{Key: "k", Value: "v", Scope: "here"})
	if all := s.history("k", "here"); len(all) != 2 || all[1].Supersedes != "" {
		s.Errorf("after Forget and Put, History returned %+v; want a fact that supersedes nothing", all)
	}
}

func checkOrder(s suite) {
	for _, key := range []string{"a", "b", "c", "a"} {
		s.put(memory.Fact{Key: key, Value: key})
	}
	for _, scope := range []string{"s", memory.PreferenceScope, memory.TurnScope} {
		s.put(memory.Fact{Key: "d", Value: "d", Scope: scope})
	}
	for scope, want := range map[string]string{
		"": "d a c b", memory.GlobalScope: "a c b", "s": "d", "x": "", memory.PreferenceScope: "d", memory.TurnScope: "d",
	} {
		s.finds(memory.Query{Scope: scope}, want)
	}
}

func checkWords(s suite) {
	s.put(memory.Fact{Key: "staging", Value: "The staging server is called Heron."},
		memory.Fact{Key: "pet", Value: "The cat is called Tom."}, memory.Fact{Key: "colour", Value: "blue"})
	for text, want := range map[string]string{
		"Restart the STAGING server!": "The staging server is called Heron.", "which pet?": "The cat is called Tom.",
	} {
		if found := s.search(memory.Query{Text: text}); len(found) == 0 || found[0].Value != want {
			s.Errorf("Search for %q returned %+v; want %q first", text, found, want)
		}
	}
	s.finds(memory.Query{Text: "tea"}, "")
}

func checkLimit(s suite) {
	for i := range 5 {
		s.put(memory.Fact{Key: fmt.Sprint("key ", i), Value: "tea"})
	}
	for _, text := range []string{"", "tea"} {
		for limit, want := range map[int][2]int{0: {5, 0}, 2: {2, 3}, 5: {5, 0}, 9: {5, 0}} {
			found, more, err := s.store.Search(s.ctx, memory.Query{Text: text, Limit: limit})
			if err != nil || len(found) != want[0] || more != want[1] {
				s.Errorf("Search for %q with the limit %d returned %d facts and %d more, %v; want %v", text, limit, len(found),
					more, err, want)
			}
		}
	}
}

func checkEpisodes(s suite) {
	for i := 0; i < 503; i += 5 {
		var facts []memory.Fact
		for j := i; j < min(i+5, 503); j++ {
			facts = append(facts, memory.Fact{Key: "same", Value: fmt.Sprint(j), Scope: memory.EpisodeScope})
		}
		s.put(facts...)
	}
	all := s.search(memory.Query{Scope: memory.EpisodeScope})
	if len(all) != 500 || all[0].Value != "502" || all[499].Value != "3" {
		s.Fatalf("Search returned %d episodes, %.200v; want the last 500, the newest first", len(all), all)
	}
	s.finds(memory.Query{}, "")
}

// checkMany stores more facts than fit in one value of a store.
func checkMany(s suite) {
	long := strings.Repeat("long ", 2000)
	for i := range 100 {
		s.put(memory.Fact{Key: fmt.Sprint(i % 75), Value: fmt.Sprint(i, long)}, memory.Fact{Key: "same", Value: "v"})
	}
	if found := s.search(memory.Query{}); len(found) != 76 {
		s.Errorf("%d facts are stored; want 76", len(found))
	}
	all := s.history("7", "")
	if len(all) != 2 || all[0].Value != fmt.Sprint(7, long) || all[1].Supersedes != all[0].ID {
		s.Errorf("the history has %d facts; want two, the old value first", len(all))
	}
	if same := s.history("same", ""); len(same) != 1 || !same[0].UpdatedAt.Equal(begin.Add(99*time.Second)) {
		s.Errorf("the fact that did not change is %+v", same)
	}
}

func checkTexts(s suite) {
	for _, text := range []string{
		"a'; DROP TABLE facts; --", "%", "_", "a\x00b", "\u2028\n", "ä", "😀", " ", strings.Repeat("long ", 10_000),
	} {
		s.put(memory.Fact{Key: text, Value: text, Scope: text, Source: text})
		f := s.search(memory.Query{Scope: text})
		if len(f) != 1 || f[0].Key != text || f[0].Value != text || f[0].Scope != text || f[0].Source != text {
			s.Errorf("the fact with the text %.40q came back as %.200v", text, f)
		}
	}
}

func checkEmptyKeys(s suite) {
	if s.store.Put(s.ctx, memory.Fact{Key: "k", Value: "v"}, memory.Fact{Value: "v"}) == nil {
		s.Errorf("Put without a key was accepted; want an error")
	}
	s.isEmpty()
	s.put()
}

// isEmpty reports an error if the store has content.
func (s suite) isEmpty() {
	s.Helper()
	for _, scope := range []string{"", memory.PreferenceScope, memory.TurnScope, memory.EpisodeScope} {
		s.finds(memory.Query{Scope: scope}, "")
	}
}

// write stores a fact, a preference and an episode with a text.
func (s suite) write(key, text string) {
	s.Helper()
	for _, scope := range []string{"", memory.PreferenceScope, memory.EpisodeScope} {
		s.put(memory.Fact{Key: key, Value: text, Scope: scope})
	}
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
	for i, id := range owners {
		s.as(id).write("key", fmt.Sprint(i))
	}
	s.isEmpty()
	for i, id := range owners {
		own, want := s.as(id), fmt.Sprint(i)
		for _, q := range []memory.Query{
			{}, {AsOf: s.clock.Now()}, {Scope: memory.PreferenceScope}, {Scope: memory.EpisodeScope}, {Text: want},
		} {
			own.finds(q, want)
		}
		if all := own.history("key", ""); values(all) != want {
			s.Errorf("%+v has the history %+v; want %s", id, all, want)
		}
	}
	s.as(owners[0]).forget("Forget", "key", "", true)
	s.as(owners[1]).finds(memory.Query{}, "1")
}

func checkCommon(s suite) {
	own := s.as(owners[0])
	s.write("both", "common")
	own.write("both", "own")
	own.write("own", "own")
	s.write("common", "common")
	for scope, want := range map[string]string{
		"": "common own own", memory.PreferenceScope: "common own own", memory.EpisodeScope: "common own own common",
	} {
		own.finds(memory.Query{Scope: scope}, want)
	}
	if all := own.history("both", ""); values(all) != "common own" {
		s.Errorf("the history of both is %q", values(all))
	}
	own.forget("an owner forgets a common fact", "common", "", false)
	s.finds(memory.Query{}, "common common")
}

func checkDoneContext(s suite) {
	s.put(memory.Fact{Key: "k", Value: "v"})
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
	s.finds(memory.Query{}, "v")
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
	if found := s.search(memory.Query{}); len(found) != writers*times+1 {
		s.Errorf("%d facts are stored; want %d", len(found), writers*times+1)
	}
	shared := s.history("shared", "")
	for i, f := range shared {
		if i > 0 && f.Supersedes != shared[i-1].ID || f.Current() != (i == len(shared)-1) {
			s.Fatalf("the history breaks at %d: %+v", i, f)
		}
	}
	if len(shared) != writers*times {
		s.Errorf("the history of the shared fact has %d values; want %d", len(shared), writers*times)
	}
}
