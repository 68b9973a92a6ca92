package kit

import (
	"log/slog"
	"math/bits"
	"sync"
)

// A Reporter reports the errors of a hook that cannot return them, for example of an observer that cannot write its
// file. The zero value is ready. A Reporter is safe for concurrent use.
type Reporter struct {
	mu sync.Mutex
	n  uint64
}

// Report passes err to the function to, which is the OnError field of a hook. If to is nil, Report logs the errors 1,
// 2, 4, 8 and so on with slog, so that many errors do not flood the log. A panic of to is recovered and logged.
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
