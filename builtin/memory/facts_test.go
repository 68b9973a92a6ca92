package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
)

// meanings is an embedder that knows some words.
type meanings struct{ err error }

func (m meanings) Embed(_ context.Context, texts []string) (vectors [][]float32, err error) {
	topics := [][]string{{"home", "live", "Bern"}, {"pet", "cat", "animal"}, {"drink", "tea", "thirst"}}
	for _, text := range texts {
		vector := make([]float32, len(topics))
		for i, words := range topics {
			for _, w := range words {
				if strings.Contains(text, w) {
					vector[i]++
				}
			}
		}
		vectors = append(vectors, vector)
	}
	return vectors, m.err
}

func TestFactsAreFoundByTheirMeaning(t *testing.T) {
	in := new(session.Map)
	m := &Facts{In: in, Embedder: meanings{}}
	keep(t, t.Context(), m, Fact{Key: "city", Value: "Bern"}, Fact{Key: "companion", Value: "Tom, a cat"},
		Fact{Key: "favourite", Value: "green tea"})
	without := &Facts{In: in}
	keep(t, t.Context(), without, Fact{Key: "wheels", Value: "a bicycle"})
	for text, want := range map[string]string{
		"Where do I live?": "Bern", "Does my animal need a doctor?": "Tom, a cat", "I have such a thirst": "green tea",
		"my bicycle": "a bicycle",
	} {
		found, _, err := m.Search(t.Context(), Query{Text: text})
		if err != nil || len(found) == 0 || found[0].Value != want {
			t.Errorf("%q finds %+v, %v; want %q", text, found, err, want)
		}
	}
	if found, _, err := without.Search(t.Context(), Query{Text: "Where do I live?"}); len(found) != 0 || err != nil {
		t.Errorf("without an embedder, %+v is found, %v", found, err)
	}
}

func TestFactsAreKeptWithoutTheEmbedder(t *testing.T) {
	m := &Facts{Embedder: meanings{errors.New("quota used up")}}
	if err := m.Put(t.Context(), Fact{Key: "city", Value: "Bern"}); err == nil ||
		!strings.Contains(err.Error(), "quota used up") {
		t.Errorf("the error is %v", err)
	}
	if found, _, err := m.Search(t.Context(), Query{Text: "in Bern"}); len(found) != 1 || err != nil {
		t.Errorf("found %+v, %v", found, err)
	}
	m.Embedder = meanings{}
	keep(t, t.Context(), m, Fact{Key: "pet", Value: "cat"})
	m.Embedder = meanings{errors.New("quota used up")}
	if _, _, err := m.Search(t.Context(), Query{Text: "in Bern"}); err == nil {
		t.Error("a search that could not be done has no error")
	}
}

func TestRareWordsCountMore(t *testing.T) {
	m := new(Facts)
	for i := range 20 {
		keep(t, t.Context(), m, Fact{Key: fmt.Sprint("server ", i), Value: "the server is in the cellar"})
	}
	keep(t, t.Context(), m, Fact{Key: "heron", Value: "staging"}, Fact{Key: "城市", Value: "我住在伯尔尼"})
	for text, want := range map[string]string{"Is the staging server up?": "staging", "你住在哪里": "我住在伯尔尼"} {
		if found, _, err := m.Search(t.Context(), Query{Text: text}); err != nil || found[0].Value != want {
			t.Errorf("%q finds %+v, %v", text, found[0], err)
		}
	}
}

// A writer is killed after it has stored a merged value, before it deletes the old ones.
func TestKilledMergeLosesNothing(t *testing.T) {
	in := new(session.Map)
	m := &Facts{In: in}
	for i := range 40 {
		keep(t, t.Context(), m, Fact{Key: fmt.Sprint(i), Value: "v"}, Fact{Key: "same", Value: fmt.Sprint(i)})
	}
	j := m.journal(agent.Identity{}, "")
	keys, err := in.Keys(t.Context(), j.prefix)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		killed := j
		killed.in = undeleting{in}
		if err := killed.merge(t.Context(), keys); err == nil {
			t.Fatal("the merge was not killed")
		}
	}
	check := func(when string) {
		t.Helper()
		found, _, err := m.Search(t.Context(), Query{})
		history, failed := m.History(t.Context(), "same", "")
		if err = errors.Join(err, failed); err != nil || len(found) != 41 || len(history) != 40 {
			t.Errorf("%s, there are %d facts with a history of %d, %v", when, len(found), len(history), err)
		}
	}
	check("after two killed merges")
	all, err := in.Keys(t.Context(), j.prefix)
	if err = errors.Join(err, j.merge(t.Context(), all)); err != nil || len(all) != 42 {
		t.Errorf("there were %d values, %v", len(all), err)
	}
	check("after a merge")
	if left, err := in.Keys(t.Context(), j.prefix); len(left) != 1 || err != nil {
		t.Errorf("%d values are left, %v", len(left), err)
	}
}

// undeleting is a store that deletes nothing.
type undeleting struct{ agent.Store }

func (undeleting) Delete(context.Context, string) error { return errors.New("killed") }

// The list of keys is made while another writer merges, so that it lacks the old keys and the new one.
func TestReadersNoticeAMerge(t *testing.T) {
	in := new(session.Map)
	m := &Facts{In: in}
	for i := range 3 {
		keep(t, t.Context(), m, Fact{Key: fmt.Sprint(i), Value: "v"})
	}
	j := m.journal(agent.Identity{}, "")
	keys, err := in.Keys(t.Context(), j.prefix)
	if err = errors.Join(err, j.merge(t.Context(), keys)); err != nil {
		t.Fatal(err)
	}
	for _, first := range [][]string{keys, nil} {
		late := &Facts{In: &lateKeys{Store: in, first: first}}
		if found, _, err := late.Search(t.Context(), Query{}); len(found) != 3 || err != nil {
			t.Errorf("after the list %q, %+v is found, %v", first, found, err)
		}
	}
}

// lateKeys is a store whose first list of keys is that of an earlier time.
type lateKeys struct {
	agent.Store
	first []string
	asked bool
}

func (s *lateKeys) Keys(ctx context.Context, prefix string) ([]string, error) {
	if !s.asked {
		s.asked = true
		return s.first, nil
	}
	return s.Store.Keys(ctx, prefix)
}

func TestProgramsShareAMemory(t *testing.T) {
	dir := session.Dir{Path: t.TempDir()}
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			m := &Facts{In: dir} // as another program opens it
			for i := range 50 {
				if err := m.Put(t.Context(), Fact{Key: fmt.Sprint(w, " ", i), Value: "v"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	m := &Facts{In: dir}
	if found, _, err := m.Search(t.Context(), Query{}); len(found) != 150 || err != nil {
		t.Errorf("%d facts of 150 are found, %v", len(found), err)
	}
	keys, err := dir.Keys(t.Context(), "")
	if err != nil || len(keys) > maxAdditions+10 || !slices.ContainsFunc(keys, isMerged) {
		t.Errorf("there are %d values, %v", len(keys), err)
	}
}

func TestCorruptValueIsAnError(t *testing.T) {
	in := new(session.Map)
	if err := in.Put(t.Context(), "memory////fact/1-a", []byte("{")); err != nil {
		t.Fatal(err)
	}
	m := &Facts{In: in}
	_, _, err := m.Search(t.Context(), Query{})
	if err == nil || !strings.Contains(err.Error(), `"memory////fact/1-a" is`) {
		t.Errorf("the error is %v", err)
	}
}

func TestStoresOfOwnersAreListed(t *testing.T) {
	in := new(session.Map)
	keep(t, as(t, annOne), &Facts{In: in}, Fact{Key: "k", Value: "v"})
	keys, err := in.Keys(t.Context(), "memory/acme/ann/")
	if err != nil || len(keys) != 1 {
		t.Errorf("ann has the keys %q, %v", keys, err)
	}
}

// More facts are stored than fit in one value of the agent.Store.
func TestManyFactsAreKept(t *testing.T) {
	for name, store := range map[string]agent.Store{"here": nil, "in a Dir": session.Dir{Path: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			m, ctx := &Facts{In: store}, t.Context()
			long := strings.Repeat("long ", 2000)
			for i := range 100 {
				if err := m.Put(ctx, Fact{Key: fmt.Sprint(i % 75), Value: fmt.Sprint(i, long)},
					Fact{Key: "same", Value: "v"}); err != nil {
					t.Fatal(err)
				}
			}
			if found, _, err := m.Search(ctx, Query{}); err != nil || len(found) != 76 {
				t.Errorf("%d facts are stored, %v; want 76", len(found), err)
			}
			all, err := m.History(ctx, "7", "")
			if err != nil || len(all) != 2 || all[0].Value != fmt.Sprint(7, long) || all[1].Supersedes != all[0].ID {
				t.Errorf("the history has %d facts, %v; want two, the old value first", len(all), err)
			}
			if same, err := m.History(ctx, "same", ""); err != nil || len(same) != 1 ||
				!same[0].UpdatedAt.After(same[0].ValidFrom) {
				t.Errorf("the fact that did not change is %+v, %v", same, err)
			}
		})
	}
}
