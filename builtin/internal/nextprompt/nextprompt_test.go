package nextprompt

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
)

func TestTextsAppearInOnePromptOnly(t *testing.T) {
	var n Queue
	n.Put(1, "one")
	n.Put(2, "two")
	n.Put(1, "ONE")
	n.Put(3, "three")
	n.Drop(3)
	if got := n.Take(4); !slices.Equal(got, []string{"ONE", "two"}) {
		t.Errorf("the prompt of step 4: %v", got)
	}
	if got := n.Take(4); !slices.Equal(got, []string{"ONE", "two"}) {
		t.Errorf("the prompt of step 4, built again: %v", got)
	}
	if got := n.Take(5); got != nil {
		t.Errorf("the prompt of step 5: %v", got)
	}
	if got := n.Take(5); got != nil {
		t.Errorf("the prompt of step 5, built again: %v", got)
	}
}

func TestQueueIsBounded(t *testing.T) {
	var n Queue
	for i := range 1000 {
		n.Put(fingerprint.Sum(i), "text")
	}
	if got := n.Take(1); len(got) != maxWaiting {
		t.Errorf("%d texts, want %d", len(got), maxWaiting)
	}
}
