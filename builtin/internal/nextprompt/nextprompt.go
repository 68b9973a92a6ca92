package nextprompt

import (
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
)

// Queue holds texts for the next prompt. A prompt that is built twice in one step, because the model found
// it too long, gets the same texts again; a later one does not. The zero value is empty. It has no lock: keep it
// in a PerRun.
type Queue struct {
	waiting []keyedText
	shown   []string
	at      int // the step for which shown was taken
}

type keyedText struct {
	key  fingerprint.Sum
	text string
}

// maxWaiting bounds how many texts wait for one prompt. More of them say nothing new.
const maxWaiting = 16

// Put adds a text, in the place of the one with the same key.
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

// Drop removes the text of a key.
func (n *Queue) Drop(key fingerprint.Sum) {
	if len(n.waiting) == 0 {
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(k keyedText) bool { return k.key == key })
}

// Take returns the texts for the prompt of a step.
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
