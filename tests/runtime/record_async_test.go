package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A program uses one buffer for all payloads. A record in the background has each payload as it was fired.
func TestBackgroundRecordOfAReusedBuffer(t *testing.T) {
	var mu sync.Mutex
	var got []string
	open := make(chan struct{})
	h := new(fixture.Hooks)
	reg := h.ObserveAny(fixture.Record(sinkFunc(func(e hooklog.Event) {
		<-open
		mu.Lock()
		defer mu.Unlock()
		got = append(got, string(e.Payload))
	})), hookkit.Async(100))
	buffer := []string{""}
	var want []string
	for i := range 10 {
		buffer[0] = fmt.Sprint("payload ", i)
		item := fixture.Item{ID: i, Trail: buffer}
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(text))
		h.Watch.Fire(t.Context(), nil, item)
	}
	buffer[0] = "used again"
	close(open)
	if err := reg.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("recorded %q", got)
	}
}
