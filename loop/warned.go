package loop

import (
	"fmt"
	"slices"
	"sync"
)

// A warned has the warnings for the result of a run.
type warned struct {
	mu    sync.Mutex
	texts []string
	seen  map[string]bool // keyed by the text
}

// warn adds a warning to the result. It drops duplicates.
func (w *warned) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = make(map[string]bool)
	}
	w.seen[text] = true
	w.texts = append(w.texts, text)
}

// warnings returns a copy of the warnings.
func (w *warned) warnings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.texts)
}
