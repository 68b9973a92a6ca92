package memorystore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func at(second int64) time.Time { return time.Unix(second, 0) }

func fact(key, value string, second int64) memory.Fact {
	return memory.Fact{Key: key, Value: value, UpdatedAt: at(second), ValidFrom: at(second)}
}

// valuesOf returns the values of facts, for example "ab".
func valuesOf(facts []memory.Fact) (values string) {
	for _, f := range facts {
		values += f.Value
	}
	return values
}

func TestFactsOfTheOwnerHideCommonOnes(t *testing.T) {
	scoped := fact("k", "c", 3)
	scoped.Scope = "other"
	got := Facts([][]memory.Fact{{fact("k", "a", 1)}, {fact("k", "b", 4), scoped, fact("l", "d", 2)}})
	if valuesOf(got) != "cda" {
		t.Errorf("got %+v", got)
	}
}

func TestOneHistoryKeepsItsOrder(t *testing.T) {
	back := []memory.Fact{fact("k", "a", 3), fact("k", "b", 1)} // the clock was set back
	for want, layers := range map[string][][]memory.Fact{
		"ab": {back, nil}, "": {nil, nil}, "bca": {back, {fact("k", "c", 2)}},
	} {
		t.Run(want, func(t *testing.T) {
			if got := History(layers); valuesOf(got) != want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestPreferencesAreSortedByKey(t *testing.T) {
	got := Preferences([][]memory.Preference{
		{{Key: "m", Value: "own"}}, {{Key: "z", Value: "1"}, {Key: "m", Value: "common"}, {Key: "a", Value: "2"}},
	})
	if len(got) != 3 || got[0].Key != "a" || got[1].Value != "own" || got[2].Key != "z" {
		t.Errorf("got %+v", got)
	}
}

func TestNewestEpisodesAreReturned(t *testing.T) {
	own := []memory.Episode{{Kind: "a", Time: at(1)}, {Kind: "b", Time: at(3)}} // added in the other order
	for _, c := range []struct {
		layers [][]memory.Episode
		n      int
		want   string
	}{
		{[][]memory.Episode{own, nil}, 5, "ab"},
		{[][]memory.Episode{own, {{Kind: "c", Time: at(2)}}}, 5, "bca"},
		{[][]memory.Episode{own, {{Kind: "c", Time: at(2)}}}, 2, "bc"},
	} {
		t.Run(fmt.Sprintf("%s of %d", c.want, len(c.layers[0])+len(c.layers[1])), func(t *testing.T) {
			kinds := ""
			for _, e := range Episodes(c.layers, c.n) {
				kinds += e.Kind
			}
			if kinds != c.want {
				t.Errorf("got %s", kinds)
			}
		})
	}
}

func TestCallsUseTheirMemories(t *testing.T) {
	ann := agent.Identity{Tenant: "acme", User: "ann", Conversation: "ticket-7"}
	unnamed := agent.Identity{User: "ann", Conversation: "run 0123456789abcdef"}
	for _, c := range []struct {
		name  string
		as    agent.Identity
		scope share.Scope
		want  []agent.Identity
		here  bool
	}{
		{"conversation", ann, share.Conversation, []agent.Identity{ann, {}}, false},
		{"user", ann, share.User, []agent.Identity{{Tenant: "acme", User: "ann"}, {}}, false},
		{"everyone", ann, share.Everyone, []agent.Identity{{}}, false},
		{"no run", agent.Identity{}, share.Conversation, []agent.Identity{{}}, false},
		{"no name", unnamed, share.Conversation, []agent.Identity{unnamed, {}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Memories
			layers := m.All(agentspec.WithIdentity(t.Context(), c.as), c.scope, nil)
			for i, l := range layers {
				if i >= len(c.want) || l.Owner != c.want[i] || (l.Unnamed != nil) != (c.here && i == 0) {
					t.Errorf("layer %d is %+v", i, l)
				}
			}
			if len(layers) != len(c.want) {
				t.Errorf("there are %d layers", len(layers))
			}
			own, err := Read(layers[:1], func(*memory.Map, context.Context) ([]string, error) {
				return []string{"here"}, nil
			}, func(agent.Identity) ([]string, error) { return []string{"stored"}, nil })
			if err != nil || (own[0][0] == "here") != c.here {
				t.Errorf("read %v, %v", own, err)
			}
		})
	}
}

func TestReadStopsAtAnError(t *testing.T) {
	broken := errors.New("broken")
	all, err := Read([]Layer{{}, {}}, nil, func(agent.Identity) ([]int, error) { return []int{1}, broken })
	if all != nil || !errors.Is(err, broken) {
		t.Errorf("read %v, %v", all, err)
	}
}

func TestPayloadsAreJSON(t *testing.T) {
	for payload, want := range map[string]string{"": "", `{"a":1}`: `{"a":1}`, "plain": `"plain"`, "\xff": `"\ufffd"`} {
		t.Run(payload, func(t *testing.T) {
			if got := Payload([]byte(payload)); string(got) != want {
				t.Errorf("got %s", got)
			}
		})
	}
}
