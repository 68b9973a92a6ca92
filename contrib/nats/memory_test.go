package nats

import (
	"fmt"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/memory/memorystore"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestOldEpisodesAreRemoved(t *testing.T) {
	b := newBucket(t, Limits{})
	m := &Memory{Bucket: b}
	for i := range memorystore.MaxEpisodes + 100 {
		if err := m.AddEpisode(t.Context(), memory.Episode{Kind: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	prefix := boundedKey(episodeKeys, agent.Identity{}) + "/"
	if err := m.trim(t.Context(), prefix); err != nil {
		t.Fatal(err)
	}
	keys, err := b.Keys(t.Context(), prefix)
	if err != nil || len(keys) != memorystore.MaxEpisodes {
		t.Errorf("%d episodes are stored, %v", len(keys), err)
	}
	last, err := m.Recent(t.Context(), 1000, "")
	if err != nil || len(last) != memorystore.MaxEpisodes || last[0].Kind != "599" || last[499].Kind != "100" {
		t.Errorf("Recent returned %d episodes, %v", len(last), err)
	}
}
