package kit

import (
	"log/slog"
	"math/bits"
	"sync"
)

// A Reporter tells what an observer could not do, since observers return nothing. The zero value is ready.
type Reporter struct {
	mu sync.Mutex
	n  uint64
}

// Report gives an error to the function that the hook was configured with. Without one it logs the first error
// and then ever fewer: a flood of errors is no flood of logs. A function that panics harms nobody.
func (r *Reporter) Report(hook string, to func(error), err error) {
	if err == nil {
		return
	}
	if to == nil {
		r.mu.Lock()
		r.n++
		n := r.n
		r.mu.Unlock()
		if bits.OnesCount64(n) == 1 {
			slog.Error(hook, "error", err, "so_far", n)
		}
		return
	}
	defer func() {
		if v := recover(); v != nil {
			slog.Error(hook+": OnError panicked", "panic", v, "error", err)
		}
	}()
	to(err)
}
