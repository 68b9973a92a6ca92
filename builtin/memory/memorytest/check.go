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
			c.check(t, open(t, clock), clock)
		})
	}
}

// checks are the checks of Check, each of an empty store.
var checks = []struct {
	name  string
	check func(t testing.TB, s memory.Store, c *clock)
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
	c.advance(d)
	return ctx.Err()
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// put stores facts, or ends the check.
func put(t testing.TB, ctx context.Context, s memory.Store, facts ...memory.Fact) {
	t.Helper()
	if err := s.Put(ctx, facts...); err != nil {
		t.Fatalf("Put(%.300v): %v", facts, err)
	}
}

// search returns the facts that a query selects, or ends the check.
func search(t testing.TB, ctx context.Context, s memory.Store, q memory.Query) []memory.Fact {
	t.Helper()
	found, _, err := s.Search(ctx, q)
	if err != nil {
		t.Fatalf("Search(%+v): %v", q, err)
	}
	return found
}

// history returns the history of a fact, or ends the check.
func history(t testing.TB, ctx context.Context, s memory.Store, key, scope string) []memory.Fact {
	t.Helper()
	all, err := s.History(ctx, key, scope)
	if err != nil {
		t.Fatalf("History(%.40q, %.40q): %v", key, scope, err)
	}
	return all
}

// values returns the values of facts, separated by blanks.
func values(facts []memory.Fact) string {
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Value
	}
	return strings.Join(texts, " ")
}

func checkHistory(t testing.TB, s memory.Store, c *clock) {
	ctx, end := t.Context(), begin.Add(time.Minute)
	put(t, ctx, s, memory.Fact{Key: "city", Value: "Oslo", Source: "user"})
	c.advance(time.Minute)
	put(t, ctx, s, memory.Fact{ID: "mine", Key: "city", Value: "Rome", ValidTo: begin, Supersedes: "x", UpdatedAt: begin})
	all := history(t, ctx, s, "city", "")
	if values(all) != "Oslo Rome" {
		t.Fatalf("History returned %+v; want both facts, the oldest first", all)
	}
	first, second := all[0], all[1]
	if first.ID == "" || first.Scope != memory.GlobalScope || first.Source != "user" || !first.ValidFrom.Equal(begin) ||
		!first.UpdatedAt.Equal(begin) || !first.ValidTo.Equal(end) || first.Supersedes != "" {
		t.Errorf("the replaced fact is %+v; want it closed at the time of the new one", first)
	}
	if second.ID == "mine" || second.ID == first.ID || second.Supersedes != first.ID || !second.Current() ||
		!second.ValidFrom.Equal(end) || !second.UpdatedAt.Equal(end) {
		t.Errorf("the new fact is %+v; want a current one with a new ID that supersedes %s", second, first.ID)
	}
	if now := search(t, ctx, s, memory.Query{}); values(now) != "Rome" {
		t.Errorf("Search returned %+v; want the new fact", now)
	}
	for after, want := range map[time.Duration]string{
		-time.Second: "", 0: "Oslo", 59 * time.Second: "Oslo", time.Minute: "Rome", time.Hour: "Rome",
	} {
		if then := search(t, ctx, s, memory.Query{AsOf: begin.Add(after)}); values(then) != want {
			t.Errorf("%v after the first fact, %q was current; want %q", after, values(then), want)
		}
	}
	if none := history(t, ctx, s, "city", "elsewhere"); len(none) != 0 {
		t.Errorf("History of another scope returned %+v", none)
	}
	c.advance(-time.Hour) // somebody sets the clock back
	put(t, ctx, s, memory.Fact{Key: "city", Value: "Bern"})
	if all := history(t, ctx, s, "city", ""); values(all) != "Oslo Rome Bern" || !all[2].Current() {
		t.Errorf("after the clock was set back, History returned %+v; want the facts in the order of Put", all)
	}
}

func checkEqualValue(t testing.TB, s memory.Store, c *clock) {
	for _, source := range []string{"a", "b", "c"} {
		put(t, t.Context(), s, memory.Fact{Key: "k", Value: "v", Source: source})
		c.advance(time.Second)
	}
	all := history(t, t.Context(), s, "k", "")
	if len(all) != 1 || !all[0].ValidFrom.Equal(begin) || !all[0].UpdatedAt.Equal(begin.Add(2*time.Second)) ||
		all[0].Source != "a" || !all[0].Current() {
		t.Errorf("History returned %+v; want one fact with the time of the last Put", all)
	}
}

func checkForget(t testing.TB, s memory.Store, c *clock) {
	ctx := t.Context()
	put(t, ctx, s, memory.Fact{Key: "k", Value: "v", Scope: "here"})
	if had, err := s.Forget(ctx, "k", ""); had || err != nil {
		t.Errorf("Forget in another scope: %t, %v; want false", had, err)
	}
	c.advance(time.Second)
	if had, err := s.Forget(ctx, "k", "here"); !had || err != nil {
		t.Errorf("Forget: %t, %v; want true", had, err)
	}
	if had, err := s.Forget(ctx, "k", "here"); had || err != nil {
		t.Errorf("a second Forget: %t, %v; want false", had, err)
	}
	if found := search(t, ctx, s, memory.Query{Scope: "here"}); len(found) > 0 {
		t.Errorf("Search found forgotten facts: %+v", found)
	}
	if all := history(t, ctx, s, "k", "here"); len(all) != 1 || !all[0].ValidTo.Equal(begin.Add(time.Second)) {
		t.Errorf("History returned %+v; want the closed fact", all)
	}
	put(t, ctx, s, memory.Fact{Key: "k", Value: "v", Scope: "here"})
	if all := history(t, ctx, s, "k", "here"); len(all) != 2 || all[1].Supersedes != "" {
		t.Errorf("after Forget and Put, History returned %+v; want a fact that supersedes nothing", all)
	}
}

func checkOrder(t testing.TB, s memory.Store, c *clock) {
	ctx := t.Context()
	for _, key := range []string{"a", "b", "c"} {
		put(t, ctx, s, memory.Fact{Key: key, Value: key})
		c.advance(time.Second)
	}
	put(t, ctx, s, memory.Fact{Key: "a", Value: "a"})
	c.advance(time.Second)
	for _, scope := range []string{"s", memory.PreferenceScope, memory.TurnScope} {
		put(t, ctx, s, memory.Fact{Key: "d", Value: "d", Scope: scope})
	}
	for scope, want := range map[string]string{
		"": "d a c b", memory.GlobalScope: "a c b", "s": "d", "x": "", memory.PreferenceScope: "d", memory.TurnScope: "d",
	} {
		if found := search(t, ctx, s, memory.Query{Scope: scope}); values(found) != want {
			t.Errorf("the facts of the scope %q are %q; want %q", scope, values(found), want)
		}
	}
}

func checkWords(t testing.TB, s memory.Store, _ *clock) {
	ctx := t.Context()
	put(t, ctx, s, memory.Fact{Key: "staging", Value: "The staging server is called Heron."},
		memory.Fact{Key: "pet", Value: "The cat is called Tom."}, memory.Fact{Key: "colour", Value: "blue"})
	for text, want := range map[string]string{
		"Restart the STAGING server!": "The staging server is called Heron.", "which pet?": "The cat is called Tom.",
		"tea": "",
	} {
		found := search(t, ctx, s, memory.Query{Text: text})
		if want == "" && len(found) > 0 || want != "" && (len(found) == 0 || found[0].Value != want) {
			t.Errorf("Search for %q returned %+v; want %q first", text, found, want)
		}
	}
}

func checkLimit(t testing.TB, s memory.Store, _ *clock) {
	for i := range 5 {
		put(t, t.Context(), s, memory.Fact{Key: fmt.Sprint("key ", i), Value: "tea"})
	}
	for _, text := range []string{"", "tea"} {
		for limit, want := range map[int][2]int{0: {5, 0}, 2: {2, 3}, 5: {5, 0}, 9: {5, 0}} {
			found, more, err := s.Search(t.Context(), memory.Query{Text: text, Limit: limit})
			if err != nil || len(found) != want[0] || more != want[1] {
				t.Errorf("Search for %q with the limit %d returned %d facts and %d more, %v; want %v", text, limit, len(found),
					more, err, want)
			}
		}
	}
}

func checkEpisodes(t testing.TB, s memory.Store, c *clock) {
	ctx := t.Context()
	for i := 0; i < 503; i += 5 {
		var facts []memory.Fact
		for j := i; j < min(i+5, 503); j++ {
			facts = append(facts, memory.Fact{Key: "same", Value: fmt.Sprint(j), Scope: memory.EpisodeScope})
		}
		put(t, ctx, s, facts...)
		c.advance(time.Second)
	}
	all := search(t, ctx, s, memory.Query{Scope: memory.EpisodeScope})
	if len(all) != 500 || all[0].Value != "502" || all[499].Value != "3" {
		t.Fatalf("Search returned %d episodes, %.200v; want the last 500, the newest first", len(all), all)
	}
	if none := search(t, ctx, s, memory.Query{}); len(none) > 0 {
		t.Errorf("a search for facts found episodes: %+v", none)
	}
}

// checkMany stores more facts than fit in one value of a store.
func checkMany(t testing.TB, s memory.Store, c *clock) {
	ctx, long := t.Context(), strings.Repeat("long ", 2000)
	for i := range 100 {
		put(t, ctx, s, memory.Fact{Key: fmt.Sprint(i % 75), Value: fmt.Sprint(i, long)}, memory.Fact{Key: "same", Value: "v"})
		c.advance(time.Second)
	}
	found := search(t, ctx, s, memory.Query{})
	if len(found) != 76 {
		t.Errorf("%d facts are stored; want 76", len(found))
	}
	all := history(t, ctx, s, "7", "")
	if len(all) != 2 || all[0].Value != fmt.Sprint(7, long) || all[1].Supersedes != all[0].ID {
		t.Errorf("the history has %d facts; want two, the old value first", len(all))
	}
	if same := history(t, ctx, s, "same", ""); len(same) != 1 || !same[0].ValidFrom.Equal(begin) ||
		!same[0].UpdatedAt.Equal(begin.Add(99*time.Second)) {
		t.Errorf("the fact that did not change is %+v", same)
	}
}

func checkTexts(t testing.TB, s memory.Store, _ *clock) {
	for _, text := range []string{
		"a'; DROP TABLE facts; --", "%", "_", "a\x00b", "\u2028\n", "ä", "😀", " ", strings.Repeat("long ", 10_000),
	} {
		put(t, t.Context(), s, memory.Fact{Key: text, Value: text, Scope: text, Source: text})
		f := search(t, t.Context(), s, memory.Query{Scope: text})
		if len(f) != 1 || f[0].Key != text || f[0].Value != text || f[0].Scope != text || f[0].Source != text {
			t.Errorf("the fact with the text %.40q came back as %.200v", text, f)
		}
	}
}

func checkEmptyKeys(t testing.TB, s memory.Store, _ *clock) {
	if s.Put(t.Context(), memory.Fact{Key: "k", Value: "v"}, memory.Fact{Value: "v"}) == nil {
		t.Errorf("Put without a key was accepted; want an error")
	}
	isEmpty(t, t.Context(), s)
	if err := s.Put(t.Context()); err != nil {
		t.Errorf("Put of nothing: %v", err)
	}
}

// isEmpty reports an error if the store has content.
func isEmpty(t testing.TB, ctx context.Context, s memory.Store) {
	t.Helper()
	for _, scope := range []string{"", memory.PreferenceScope, memory.TurnScope, memory.EpisodeScope} {
		if found := search(t, ctx, s, memory.Query{Scope: scope}); len(found) > 0 {
			t.Errorf("%+v is stored in the scope %q; want nothing", found, scope)
		}
	}
}

// write stores a fact, a preference and an episode with a text.
func write(t testing.TB, ctx context.Context, s memory.Store, key, text string) {
	t.Helper()
	for _, scope := range []string{"", memory.PreferenceScope, memory.EpisodeScope} {
		put(t, ctx, s, memory.Fact{Key: key, Value: text, Scope: scope})
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

func checkOwners(t testing.TB, s memory.Store, c *clock) {
	for i, id := range owners {
		write(t, agentspec.WithIdentity(t.Context(), id), s, "key", fmt.Sprint(i))
		c.advance(time.Second)
	}
	isEmpty(t, t.Context(), s)
	for i, id := range owners {
		ctx, want := agentspec.WithIdentity(t.Context(), id), fmt.Sprint(i)
		for _, q := range []memory.Query{
			{}, {AsOf: c.Now()}, {Scope: memory.PreferenceScope}, {Scope: memory.EpisodeScope}, {Text: want},
		} {
			if found := search(t, ctx, s, q); values(found) != want {
				t.Errorf("%+v finds %+v with %+v; want %s", id, found, q, want)
			}
		}
		if all := history(t, ctx, s, "key", ""); values(all) != want {
			t.Errorf("%+v has the history %+v; want %s", id, all, want)
		}
	}
	if had, err := s.Forget(agentspec.WithIdentity(t.Context(), owners[0]), "key", ""); !had || err != nil {
		t.Errorf("Forget: %t, %v", had, err)
	}
	if found := search(t, agentspec.WithIdentity(t.Context(), owners[1]), s, memory.Query{}); len(found) != 1 {
		t.Errorf("Forget of one owner changed the facts of another to %+v", found)
	}
}

func checkCommon(t testing.TB, s memory.Store, c *clock) {
	own := agentspec.WithIdentity(t.Context(), owners[0])
	write(t, t.Context(), s, "both", "common")
	c.advance(time.Second)
	write(t, own, s, "both", "own")
	c.advance(time.Second)
	write(t, own, s, "own", "own")
	c.advance(time.Second)
	write(t, t.Context(), s, "common", "common")
	for scope, want := range map[string]string{
		"": "common own own", memory.PreferenceScope: "common own own", memory.EpisodeScope: "common own own common",
	} {
		if found := search(t, own, s, memory.Query{Scope: scope}); values(found) != want {
			t.Errorf("the owner finds %q in the scope %q; want %q", values(found), scope, want)
		}
	}
	if all := history(t, own, s, "both", ""); values(all) != "common own" {
		t.Errorf("the history of both is %q", values(all))
	}
	if had, err := s.Forget(own, "common", ""); had || err != nil {
		t.Errorf("an owner forgets a common fact: %t, %v; want false", had, err)
	}
	if found := search(t, t.Context(), s, memory.Query{}); values(found) != "common common" {
		t.Errorf("the common memory has %q", values(found))
	}
}

func checkDoneContext(t testing.TB, s memory.Store, _ *clock) {
	put(t, t.Context(), s, memory.Fact{Key: "k", Value: "v"})
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, searched := s.Search(done, memory.Query{})
	_, recalled := s.History(done, "k", "")
	_, forgotten := s.Forget(done, "k", "")
	for method, err := range map[string]error{
		"Put": s.Put(done, memory.Fact{Key: "k", Value: "w"}), "Search": searched, "History": recalled, "Forget": forgotten,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a done context returned %v; want the error of the context", method, err)
		}
	}
	if found := search(t, t.Context(), s, memory.Query{}); values(found) != "v" {
		t.Errorf("after calls with a done context, the store has %+v", found)
	}
}

func checkConcurrent(t testing.TB, s memory.Store, _ *clock) {
	const writers, times = 4, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range times {
				err := s.Put(t.Context(), memory.Fact{Key: fmt.Sprint(w, i), Value: "v"},
					memory.Fact{Key: "shared", Value: fmt.Sprint(w, i)})
				_, _, failed := s.Search(t.Context(), memory.Query{})
				if err = errors.Join(err, failed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if found := search(t, t.Context(), s, memory.Query{}); len(found) != writers*times+1 {
		t.Errorf("%d facts are stored; want %d", len(found), writers*times+1)
	}
	shared := history(t, t.Context(), s, "shared", "")
	for i, f := range shared {
		if i > 0 && f.Supersedes != shared[i-1].ID || f.Current() != (i == len(shared)-1) {
			t.Fatalf("the history breaks at %d: %+v", i, f)
		}
	}
	if len(shared) != writers*times {
		t.Errorf("the history of the shared fact has %d values; want %d", len(shared), writers*times)
	}
}
