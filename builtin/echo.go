package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Echo prints a line for every fire: the point, and the beginning of what it left as JSON.
//
// It observes all points, in the tier Observability: "[hook:BeforeTool] {…", cut at 120 characters with an ellipsis. It
// is for a look at a program under development: nothing is redacted. JSON escapes what a terminal would obey. State: none
// but the writer; lines of parallel runs are whole. It must not be copied.
type Echo struct {
	Writer  io.Writer   // nil: the standard error
	OnError func(error) // gets what could not be written; nil: it is logged

	mu     sync.Mutex
	failed reporter
}

// Bind adds the observer.
func (e *Echo) Bind(h *agent.Hooks) { h.ObserveAny(e) }

// Observe prints a fire.
func (e *Echo) Observe(_ context.Context, _ *agent.Run, fired hookkit.AnyFired) {
	text, err := json.Marshal(fired.Final)
	if err != nil {
		text = []byte(err.Error())
	}
	w := e.Writer
	if w == nil {
		w = os.Stderr
	}
	e.mu.Lock()
	_, err = fmt.Fprintf(w, "[hook:%s] %s\n", fired.Point, cut(oneLine(string(text), 121), 120))
	e.mu.Unlock()
	e.failed.report("Echo", e.OnError, err)
}
