package runstore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// One client sends many runs with long labels. It pushes out its own runs, and none of another client; the memory is
// bounded, and a run that continues after it was forgotten is reported.
func TestClientsPushOutOnlyTheirOwnRuns(t *testing.T) {
	var returned []string
	s := New(func(_ context.Context, info wire.RunInfo) (hookkit.AnyRun, error) {
		return hookkit.NewRunWithID(info.ID, 0), nil
	}, func(_ context.Context, id string) { returned = append(returned, id) })
	get := func(client, id, label string) hookkit.AnyRun {
		run, err := s.Get(wire.WithClient(t.Context(), client), wire.RunInfo{ID: id, Labels: map[string]string{"l": label}})
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	quiet := get("quiet", "run", "")
	first := get("loud", "run 0", strings.Repeat("x", 1<<20))
	for i := range 100 {
		get("loud", fmt.Sprint("run ", i+1), strings.Repeat("x", 1<<20))
	}
	if get("quiet", "run", "") != quiet || len(returned) > 0 {
		t.Errorf("the run of the quiet client was forgotten; reported %v", returned)
	}
	if s.clients["loud"].bytes > maxBytes {
		t.Errorf("the loud client has %d bytes", s.clients["loud"].bytes)
	}
	if get("loud", "run 0", strings.Repeat("x", 1<<20)) == first || len(returned) != 1 || returned[0] != "run 0" {
		t.Errorf("the first run of the loud client is still kept, or was not reported: %v", returned)
	}
}

func TestAllClientsTogetherAreBounded(t *testing.T) {
	s := New(func(_ context.Context, info wire.RunInfo) (hookkit.AnyRun, error) {
		return hookkit.NewRunWithID(info.ID, 0), nil
	}, nil)
	label := map[string]string{"l": strings.Repeat("x", 4<<20)}
	for i := range 100 {
		if _, err := s.Get(wire.WithClient(t.Context(), fmt.Sprint(i)), wire.RunInfo{ID: "run", Labels: label}); err != nil {
			t.Fatal(err)
		}
	}
	if s.bytes > totalBytes || len(s.clients) > 40 {
		t.Errorf("%d bytes of %d clients", s.bytes, len(s.clients))
	}
}
