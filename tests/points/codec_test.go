package points

import (
	"testing"

	"github.com/hookgen/hookgen/tests/fixture"
)

// A program with hooks that call next twice converts many payloads.
func TestStoreKeepsEveryValueUntilForget(t *testing.T) {
	first := items.put(fixture.Item{ID: 7})
	for range 1 << 15 {
		items.put(fixture.Item{})
	}
	if got := items.get(first).ID; got != 7 {
		t.Errorf("the first value has become %d", got)
	}
	Forget()
	if got := items.get(first).ID; got != 0 {
		t.Errorf("after Forget the value is %d", got)
	}
}
