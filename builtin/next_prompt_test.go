package builtin

import (
	"slices"
	"testing"
)

func TestTextsForTheNextPromptAreInThatPromptAlone(t *testing.T) {
	var n nextPrompt
	n.put(fingerprint{1}, "one")
	n.put(fingerprint{2}, "two")
	n.put(fingerprint{1}, "ONE")
	n.put(fingerprint{3}, "three")
	n.drop(fingerprint{3})
	if got := n.take(4); !slices.Equal(got, []string{"ONE", "two"}) {
		t.Errorf("the prompt of step 4: %v", got)
	}
	if got := n.take(4); !slices.Equal(got, []string{"ONE", "two"}) {
		t.Errorf("the prompt of step 4, built again: %v", got)
	}
	if got := n.take(5); got != nil {
		t.Errorf("the prompt of step 5: %v", got)
	}
	if got := n.take(5); got != nil {
		t.Errorf("the prompt of step 5, built again: %v", got)
	}
}

func TestTheNumberOfTextsForAPromptIsBounded(t *testing.T) {
	var n nextPrompt
	for i := range 1000 {
		n.put(fingerprint{byte(i), byte(i >> 8)}, "text")
	}
	if got := n.take(1); len(got) != maxWaiting {
		t.Errorf("%d texts, want %d", len(got), maxWaiting)
	}
}
