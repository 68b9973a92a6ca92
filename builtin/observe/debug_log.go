package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// DebugLog prints a line for every fire: the point, and the beginning of what it left as JSON.
//
// It observes all points, in the tier Observability: "[hook:BeforeTool] {…", cut at 120 characters with an ellipsis. It
// is for a look at a program under development: nothing is redacted. JSON escapes what a terminal would obey. State:
// none but the writer; lines of parallel runs are whole. It must not be copied.
type DebugLog struct {
	Writer  io.Writer   // nil: the standard error
	OnError func(error) // gets what could not be written; nil: it is logged

	mu     sync.Mutex
	failed kit.Reporter
}

// Bind adds the observer.
func (e *DebugLog) Bind(h *agent.Hooks) { h.ObserveAny(e) }

// Observe prints a fire.
func (e *DebugLog) Observe(_ context.Context, _ *agent.Run, fired hookkit.AnyFired) {
	text, err := json.Marshal(fired.Final)
	if err != nil {
		text = []byte(err.Error())
	}
	w := e.Writer
	if w == nil {
		w = os.Stderr
	}
	e.mu.Lock()
	_, err = fmt.Fprintf(w, "[hook:%s] %s\n", fired.Point, shorten.To(shorten.Line(string(text), 121), 120))
	e.mu.Unlock()
	e.failed.Report("observe.DebugLog", e.OnError, err)
}
