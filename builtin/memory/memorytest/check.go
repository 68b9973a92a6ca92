package memorytest

import (
	"context"
	"encoding/json"
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
//	memorytest.Check(t, func(_ *testing.T, clock agent.Clock) memory.Store { return &memory.Map{Clock: clock} })
//
// The suite checks the history of facts, the order of all lists, that owners are apart and see the common memory, that
// payloads are copied, that a done context changes nothing, and that concurrent calls are safe. Run it with the race
// detector too.
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
	{"new values close old facts", checkHistory},
	{"equal values only update the time", checkEqualValue},
	{"forgotten facts stay in the history", checkForget},
	{"facts are listed newest first", checkFacts},
	{"preferences are sorted", checkPreferences},
	{"the last 500 episodes are kept", checkEpisodes},
	{"payloads are JSON", checkPayloads},
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

// add adds a fact, or ends the check.
func add(t testing.TB, ctx context.Context, s memory.Store, f memory.Fact) memory.Fact {
	t.Helper()
	added, err := s.AddFact(ctx, f)
	if err != nil {
		t.Fatalf("AddFact(%+v): %v", f, err)
	}
	return added
}

// same reports whether two facts are equal. Times are compared as instants.
func same(a, b memory.Fact) bool {
	times := a.UpdatedAt.Equal(b.UpdatedAt) && a.ValidFrom.Equal(b.ValidFrom) && a.ValidTo.Equal(b.ValidTo) &&
		a.InvalidatedAt.Equal(b.InvalidatedAt)
	a.UpdatedAt, a.ValidFrom, a.ValidTo, a.InvalidatedAt = b.UpdatedAt, b.ValidFrom, b.ValidTo, b.InvalidatedAt
	return times && a == b
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
	ctx := t.Context()
	first := add(t, ctx, s, memory.Fact{Key: "city", Value: "Oslo", Source: "user"})
	if first.ID == "" || first.Scope != memory.GlobalScope || !first.Current() || !first.ValidFrom.Equal(begin) ||
		!first.UpdatedAt.Equal(begin) || first.Source != "user" {
		t.Errorf("AddFact returned %+v; want a current fact with an ID, the global scope and the time of the clock", first)
	}
	c.advance(time.Minute)
	given := memory.Fact{ID: "mine", Key: "city", Value: "Rome", ValidTo: begin, Supersedes: "nothing", UpdatedAt: begin}
	second := add(t, ctx, s, given)
	if second.Supersedes != first.ID || second.ID == first.ID || second.ID == "mine" || !second.Current() {
		t.Errorf("AddFact of a new value returned %+v; want a current fact with a new ID that supersedes %s", second,
			first.ID)
	}
	if now, ok, err := s.Fact(ctx, "city", ""); err != nil || !ok || !same(now, second) {
		t.Errorf("Fact returned %+v, %t, %v; want the new fact", now, ok, err)
	}
	all, err := s.History(ctx, "city", memory.GlobalScope)
	if err != nil || len(all) != 2 || all[0].ID != first.ID || !same(all[1], second) {
		t.Fatalf("History returned %+v, %v; want both facts, the oldest first", all, err)
	}
	if end := begin.Add(time.Minute); !all[0].ValidTo.Equal(end) || !all[0].InvalidatedAt.Equal(end) {
		t.Errorf("the replaced fact is %+v; want it closed at the time of the new one", all[0])
	}
	for after, want := range map[time.Duration]string{
		-time.Second: "", 0: "Oslo", 59 * time.Second: "Oslo", time.Minute: "Rome", time.Hour: "Rome",
	} {
		if then, err := s.AsOf(ctx, begin.Add(after)); err != nil || values(then) != want {
			t.Errorf("AsOf %v after the first fact returned %q, %v; want %q", after, values(then), err, want)
		}
	}
	if none, err := s.History(ctx, "city", "elsewhere"); err != nil || len(none) != 0 {
		t.Errorf("History of another scope returned %+v, %v", none, err)
	}
}

func checkEqualValue(t testing.TB, s memory.Store, c *clock) {
	first := add(t, t.Context(), s, memory.Fact{Key: "k", Value: "v", Source: "a"})
	c.advance(time.Second)
	again := add(t, t.Context(), s, memory.Fact{Key: "k", Value: "v", Source: "b"})
	want := first
	want.UpdatedAt = begin.Add(time.Second)
	if !same(again, want) {
		t.Errorf("AddFact of an equal value returned %+v; want %+v", again, want)
	}
	if all, err := s.History(t.Context(), "k", ""); err != nil || len(all) != 1 || !same(all[0], want) {
		t.Errorf("History returned %+v, %v; want one fact", all, err)
	}
}

func checkForget(t testing.TB, s memory.Store, c *clock) {
	ctx := t.Context()
	add(t, ctx, s, memory.Fact{Key: "k", Value: "v", Scope: "here"})
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
	if _, ok, err := s.Fact(ctx, "k", "here"); ok || err != nil {
		t.Errorf("Fact found a forgotten fact (%v)", err)
	}
	if all, err := s.History(ctx, "k", "here"); err != nil || len(all) != 1 || all[0].Current() {
		t.Errorf("History returned %+v, %v; want the closed fact", all, err)
	}
	if again := add(t, ctx, s, memory.Fact{Key: "k", Value: "v", Scope: "here"}); again.Supersedes != "" {
		t.Errorf("a fact after Forget supersedes %s; want nothing", again.Supersedes)
	}
}

func checkFacts(t testing.TB, s memory.Store, c *clock) {
	ctx := t.Context()
	for _, key := range []string{"a", "b", "c"} {
		add(t, ctx, s, memory.Fact{Key: key, Value: key})
		c.advance(time.Second)
	}
	add(t, ctx, s, memory.Fact{Key: "a", Value: "a"})
	c.advance(time.Second)
	add(t, ctx, s, memory.Fact{Key: "d", Value: "d", Scope: "s"})
	for scope, want := range map[string]string{"": "d a c b", memory.GlobalScope: "a c b", "s": "d", "x": ""} {
		if facts, err := s.Facts(ctx, scope); err != nil || values(facts) != want {
			t.Errorf("Facts of the scope %q: %q, %v; want %q", scope, values(facts), err, want)
		}
	}
	if then, err := s.AsOf(ctx, c.Now()); err != nil || values(then) != "a b c d" {
		t.Errorf("AsOf: %q, %v; want the facts in the order in which they became current", values(then), err)
	}
}

func checkPreferences(t testing.TB, s memory.Store, _ *clock) {
	ctx := t.Context()
	for _, p := range [][2]string{{"z", "1"}, {"a", "2"}, {"z", "3"}, {"b", "4"}, {"b", ""}, {"never", ""}} {
		if err := s.SetPreference(ctx, p[0], p[1]); err != nil {
			t.Errorf("SetPreference(%q, %q): %v", p[0], p[1], err)
		}
	}
	all, err := s.Preferences(ctx)
	if err != nil || len(all) != 2 || all[0].Key != "a" || all[0].Value != "2" || !all[0].UpdatedAt.Equal(begin) ||
		all[1].Value != "3" {
		t.Errorf("Preferences returned %+v, %v; want a and z", all, err)
	}
}

func checkEpisodes(t testing.TB, s memory.Store, c *clock) {
	ctx := t.Context()
	owner := agent.Identity{Tenant: "t", User: "u", Conversation: "c"}
	for i := range 503 {
		e := memory.Episode{Kind: []string{"even", "odd"}[i%2], Outcome: fmt.Sprint(i)}
		if i == 502 {
			e.Time, e.Agent, e.Run, e.Identity = begin.Add(time.Hour), "agent", "run", owner
		}
		if err := s.AddEpisode(ctx, e); err != nil {
			t.Fatalf("AddEpisode: %v", err)
		}
		c.advance(time.Microsecond)
	}
	all, err := s.Recent(ctx, 1000, "")
	if err != nil || len(all) != 500 {
		t.Fatalf("Recent returned %d episodes, %v; want the last 500", len(all), err)
	}
	if last := all[0]; last.Outcome != "502" || !last.Time.Equal(begin.Add(time.Hour)) || last.Agent != "agent" ||
		last.Run != "run" || last.Identity != owner || last.Payload != nil {
		t.Errorf("the last episode is %+v; want it as it was added", last)
	}
	if first := all[499]; first.Outcome != "3" || !first.Time.Equal(begin.Add(3*time.Microsecond)) {
		t.Errorf("the first episode is %+v; want the fourth, with the time of the clock", first)
	}
	if odd, err := s.Recent(ctx, 2, "odd"); err != nil || len(odd) != 2 || odd[0].Outcome != "501" ||
		odd[1].Outcome != "499" {
		t.Errorf("Recent of a kind returned %+v, %v; want the last two, the newest first", odd, err)
	}
	for _, n := range []int{0, -1} {
		if none, err := s.Recent(ctx, n, ""); err != nil || len(none) != 0 {
			t.Errorf("Recent(%d) returned %+v, %v", n, none, err)
		}
	}
}

func checkPayloads(t testing.TB, s memory.Store, _ *clock) {
	for given, want := range map[string]string{`{"broken`: `"{\"broken"`, `{"n":[1, 2]}`: `{"n":[1, 2]}`, `null`: `null`} {
		payload := json.RawMessage(given)
		if err := s.AddEpisode(t.Context(), memory.Episode{Kind: given, Payload: payload}); err != nil {
			t.Fatalf("AddEpisode with the payload %s: %v", given, err)
		}
		payload[0] = 'X'
		for _, when := range []string{"after AddEpisode", "from Recent"} {
			got, err := s.Recent(t.Context(), 1, given)
			if err != nil || len(got) != 1 || string(got[0].Payload) != want {
				t.Fatalf("the payload %s came back as %+v, %v, perhaps because its slice changed %s", given, got, err, when)
			}
			got[0].Payload[0] = 'Y'
		}
	}
}

func checkTexts(t testing.TB, s memory.Store, _ *clock) {
	ctx := t.Context()
	for i, text := range []string{
		"a'; DROP TABLE facts; --", "%", "_", "a\x00b", "\u2028\n", "ä", "😀", " ", strings.Repeat("long ", 10_000),
	} {
		add(t, ctx, s, memory.Fact{Key: text, Value: text, Scope: text, Source: text})
		if f, ok, err := s.Fact(ctx, text, text); err != nil || !ok || f.Key != text || f.Value != text ||
			f.Scope != text || f.Source != text {
			t.Errorf("the fact with the text %.40q came back as %.200v, %t, %v", text, f, ok, err)
		}
		if err := s.SetPreference(ctx, text, text); err != nil {
			t.Errorf("SetPreference(%.40q): %v", text, err)
		}
		if all, err := s.Preferences(ctx); err != nil || len(all) != i+1 {
			t.Errorf("after the key %.40q there are %d preferences, %v; want %d", text, len(all), err, i+1)
		}
	}
}

func checkEmptyKeys(t testing.TB, s memory.Store, _ *clock) {
	if _, err := s.AddFact(t.Context(), memory.Fact{Value: "v"}); err == nil {
		t.Errorf("AddFact without a key was accepted; want an error")
	}
	if s.SetPreference(t.Context(), "", "v") == nil {
		t.Errorf("SetPreference without a key was accepted; want an error")
	}
	isEmpty(t, t.Context(), s)
}

// isEmpty reports an error if the store has content.
func isEmpty(t testing.TB, ctx context.Context, s memory.Store) {
	t.Helper()
	facts, err := s.Facts(ctx, "")
	preferences, failed := s.Preferences(ctx)
	episodes, other := s.Recent(ctx, 9, "")
	if err = errors.Join(err, failed, other); err != nil || len(facts)+len(preferences)+len(episodes) > 0 {
		t.Errorf("facts %+v, preferences %+v, episodes %+v are stored (%v); want nothing", facts, preferences, episodes, err)
	}
}

// write stores a fact, a preference and an episode with a text.
func write(t testing.TB, ctx context.Context, s memory.Store, key, text string) {
	t.Helper()
	_, err := s.AddFact(ctx, memory.Fact{Key: key, Value: text})
	if err = errors.Join(err, s.SetPreference(ctx, key, text),
		s.AddEpisode(ctx, memory.Episode{Kind: key, Outcome: text})); err != nil {
		t.Fatalf("%v", err)
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
		fact, _, err := s.Fact(ctx, "key", "")
		facts, failed := s.Facts(ctx, "")
		history, other := s.History(ctx, "key", "")
		then, another := s.AsOf(ctx, c.Now())
		if err = errors.Join(err, failed, other, another); err != nil || fact.Value != want || values(facts) != want ||
			values(history) != want || values(then) != want {
			t.Errorf("%+v has the facts %q, %q, %q and %q, %v; want %s", id, fact.Value, values(facts), values(history),
				values(then), err, want)
		}
		preferences, err := s.Preferences(ctx)
		if err != nil || len(preferences) != 1 || preferences[0].Value != want {
			t.Errorf("%+v has the preferences %+v, %v; want %s", id, preferences, err, want)
		}
		episodes, err := s.Recent(ctx, 9, "")
		if err != nil || len(episodes) != 1 || episodes[0].Outcome != want {
			t.Errorf("%+v has the episodes %+v, %v; want %s", id, episodes, err, want)
		}
	}
	ctx := agentspec.WithIdentity(t.Context(), owners[0])
	if had, err := s.Forget(ctx, "key", ""); !had || err != nil {
		t.Errorf("Forget: %t, %v", had, err)
	}
	if f, ok, err := s.Fact(agentspec.WithIdentity(t.Context(), owners[1]), "key", ""); err != nil || !ok {
		t.Errorf("Forget of one owner changed the fact of another to %+v, %v", f, err)
	}
	if err := s.Flush(ctx); err != nil {
		t.Errorf("Flush: %v", err)
	}
}

func checkCommon(t testing.TB, s memory.Store, c *clock) {
	own := agentspec.WithIdentity(t.Context(), owners[0])
	write(t, t.Context(), s, "both", "common")
	c.advance(time.Second)
	write(t, own, s, "both", "own")
	write(t, own, s, "own", "own")
	c.advance(time.Second)
	write(t, t.Context(), s, "common", "common")
	if both, ok, err := s.Fact(own, "both", ""); err != nil || !ok || both.Value != "own" {
		t.Errorf("Fact returned %+v, %t, %v; want the owner's own fact", both, ok, err)
	}
	if common, ok, err := s.Fact(own, "common", ""); err != nil || !ok || common.Value != "common" {
		t.Errorf("Fact returned %+v, %t, %v; want the common fact", common, ok, err)
	}
	if facts, err := s.Facts(own, ""); err != nil || values(facts) != "common own own" {
		t.Errorf("Facts returned %q, %v; want the common fact first, and own facts instead of common ones", values(facts),
			err)
	}
	if history, err := s.History(own, "both", ""); err != nil || values(history) != "common own" {
		t.Errorf("History returned %q, %v; want the common and the own fact, in order", values(history), err)
	}
	preferences, err := s.Preferences(own)
	if err != nil || len(preferences) != 3 || preferences[0].Value != "own" || preferences[1].Key != "common" {
		t.Errorf("Preferences returned %+v, %v; want both, common and own", preferences, err)
	}
	episodes, err := s.Recent(own, 2, "")
	if err != nil || len(episodes) != 2 || episodes[0].Outcome != "common" || episodes[1].Kind != "own" {
		t.Errorf("Recent returned %+v, %v; want the last two of both memories", episodes, err)
	}
	if had, err := s.Forget(own, "common", ""); had || err != nil {
		t.Errorf("Forget of a common fact by an owner: %t, %v; want false", had, err)
	}
	if facts, err := s.Facts(t.Context(), ""); err != nil || values(facts) != "common common" {
		t.Errorf("outside a run, Facts returned %q, %v; want the common facts", values(facts), err)
	}
}

func checkDoneContext(t testing.TB, s memory.Store, _ *clock) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, added := s.AddFact(ctx, memory.Fact{Key: "k", Value: "v"})
	_, forgot := s.Forget(ctx, "k", "")
	_, listed := s.Facts(ctx, "")
	_, recent := s.Recent(ctx, 1, "")
	for _, c := range []struct {
		call string
		err  error
	}{
		{"AddFact", added}, {"Forget", forgot}, {"Facts", listed}, {"Recent", recent},
		{"SetPreference", s.SetPreference(ctx, "k", "v")}, {"AddEpisode", s.AddEpisode(ctx, memory.Episode{Kind: "k"})},
	} {
		if !errors.Is(c.err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v; want an error that wraps context.Canceled", c.call, c.err)
		}
	}
	isEmpty(t, t.Context(), s)
}

func checkConcurrent(t testing.TB, s memory.Store, _ *clock) {
	ctx := agentspec.WithIdentity(t.Context(), owners[0])
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 20 {
				_, shared := s.AddFact(ctx, memory.Fact{Key: "shared", Value: fmt.Sprint(w, i)})
				_, own := s.AddFact(ctx, memory.Fact{Key: fmt.Sprint(w), Value: fmt.Sprint(i)})
				_, listed := s.Facts(ctx, "")
				if err := errors.Join(shared, own, listed, s.SetPreference(ctx, fmt.Sprint(w), fmt.Sprint(i+1)),
					s.AddEpisode(ctx, memory.Episode{Kind: "k"})); err != nil {
					t.Errorf("a concurrent call: %v", err)
				}
			}
		})
	}
	all.Wait()
	shared, err := s.History(ctx, "shared", "")
	current := 0
	for i, f := range shared {
		if f.Current() {
			current++
		}
		if i > 0 && f.Supersedes != shared[i-1].ID {
			t.Errorf("the fact %d supersedes %q; want %q", i, f.Supersedes, shared[i-1].ID)
		}
	}
	facts, failed := s.Facts(ctx, "")
	episodes, other := s.Recent(ctx, 1000, "")
	if err = errors.Join(err, failed, other, s.Flush(ctx)); err != nil || len(shared) != 80 || current != 1 ||
		len(facts) != 5 || len(episodes) != 80 {
		t.Errorf("%d versions, %d of them current, %d facts, %d episodes, %v; want 80, 1, 5 and 80", len(shared), current,
			len(facts), len(episodes), err)
	}
}
