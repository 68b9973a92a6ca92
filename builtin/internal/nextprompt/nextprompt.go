package nextprompt

import (
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
)

// A Queue holds texts for the next prompt. If the loop builds a prompt twice in one step, because it was too long for
// the model, the second one gets the same texts. Later prompts do not.
//
// The zero value is empty. A Queue is not safe for concurrent use; keep it in a hookkit.PerRun.
type Queue struct {
	waiting []keyedText
	shown   []string
	at      int // the step of shown
}

type keyedText struct {
	key  fingerprint.Sum
	text string
}

// maxWaiting is the most texts of one prompt; further texts are dropped.
const maxWaiting = 16

// Put adds a text. It replaces a queued text with the same key.
func (n *Queue) Put(key fingerprint.Sum, text string) {
	for i := range n.waiting {
		if n.waiting[i].key == key {
			n.waiting[i].text = text
			return
		}
	}
	if len(n.waiting) < maxWaiting {
		n.waiting = append(n.waiting, keyedText{key, text})
	}
}

// Drop removes the queued text with the key, if there is one.
func (n *Queue) Drop(key fingerprint.Sum) {
	if len(n.waiting) == 0 {
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(k keyedText) bool { return k.key == key })
}

// Take removes and returns the texts for the prompt of a step, in the order of Put. The caller must not change them.
func (n *Queue) Take(step int) []string {
	if step != 0 && step == n.at && len(n.waiting) == 0 {
		return n.shown
	}
	n.shown, n.at = nil, step
	for _, k := range n.waiting {
		n.shown = append(n.shown, k.text)
	}
	n.waiting = nil
	return n.shown
}
