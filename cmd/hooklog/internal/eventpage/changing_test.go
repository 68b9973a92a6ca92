package eventpage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// TestReadersOfAChangingFile pages through a run twice at once, and writes its page as a file, while the record grows,
// is cut in a line, and is replaced.
func TestReadersOfAChangingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	lines := func(from int) []byte {
		var text bytes.Buffer
		sink := hooklog.Lines(&text)
		for seq := range int64(10) {
			e := event(int64(from)+seq, "a", "P", fmt.Sprintf(`"payload %d"`, seq))
			if err := sink.WriteEvent(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		return text.Bytes()
	}
	if err := os.WriteFile(path, lines(0), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := eventlog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	h := NewHandler(x, "name", token, host)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true // after one more time
				default:
				}
				pageThrough(t, h)
				err := Write(&bytes.Buffer{}, x, "name")
				if ended && err != nil || err != nil && !errors.Is(err, eventlog.ErrChanged) &&
					!strings.Contains(err.Error(), "the record has no event") {
					t.Errorf("Write: %v", err)
				}
			}
		})
	}
	for n := range 20 {
		whole, err := os.ReadFile(path)
		switch {
		case err != nil:
		case n%10 == 6:
			err = os.Truncate(path, int64(len(whole)/2+7))
		case n%10 == 8:
			err = errors.Join(os.WriteFile(path+".new", lines(1000*n), 0o600), os.Rename(path+".new", path))
		case n%10 == 9:
			err = os.WriteFile(path, lines(1000*n), 0o600)
		default:
			err = os.WriteFile(path, append(whole, lines(1000*n)...), 0o600)
		}
		if err := errors.Join(err, x.Update(t.Context())); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}

// pageThrough reads the timeline of run 0 and the details of its fires.
func pageThrough(t *testing.T, h http.Handler) {
	for from, more := 0, true; more; {
		var page timelineView
		got := ask(h, fmt.Sprintf("/api/items?run=0&from=%d", from))
		if err := json.NewDecoder(got.Body).Decode(&page); err != nil || got.StatusCode != http.StatusOK {
			t.Errorf("items from %d: %s, %v", from, got.Status, err)
			return
		}
		for _, i := range page.Items {
			if i.At < from {
				t.Errorf("item %d follows %d", i.At, from)
			}
			from = i.At + 1
			if i.Fire == nil {
				continue
			}
			got := ask(h, fmt.Sprintf("/api/fire?event=%d", i.Fire.Event))
			if got.StatusCode != http.StatusOK && got.StatusCode != http.StatusNotFound {
				t.Errorf("fire %d: %s", i.Fire.Event, got.Status)
			}
		}
		more = page.More && len(page.Items) > 0
	}
}
