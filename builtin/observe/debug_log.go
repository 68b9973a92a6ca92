package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// DebugLog prints a line for every fire, for debugging a program under development.
//
// For example, the line
//
//	[hook:BeforeTool] {"id":"1","name":"read"} run=5f3a9c27 user=ann conversation=ticket-7
//
// has the point, the payload after all hooks, the run and its owner. The payload is JSON, redacted and truncated to 120
// characters. Control characters are escaped, so a payload cannot control the terminal.
//
// DebugLog observes all points. The zero value is ready to use. It is safe for concurrent use and writes each line in
// one piece; it must not be copied.
type DebugLog struct {
	Writer  io.Writer // nil: standard error
	Redact  redact.Redactor
	OnError func(error) // receives errors of Writer; nil: they are logged

	mu     sync.Mutex
	failed kit.Reporter
}

// Bind adds the observer to all points.
func (e *DebugLog) Bind(h *agent.Hooks) { h.ObserveAny(e) }

// Observe prints a fire.
func (e *DebugLog) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) {
	text, err := json.Marshal(fired.Final)
	if err != nil {
		text = []byte(err.Error())
	}
	w := e.Writer
	if w == nil {
		w = os.Stderr
	}
	e.mu.Lock()
	_, err = fmt.Fprintf(w, "[hook:%s] %s%s\n", fired.Point, shorten.Line(e.Redact.CutText(string(text), 120), 120),
		ownerText(run))
	e.mu.Unlock()
	e.failed.Report("observe.DebugLog", e.OnError, err)
}

// ownerText returns the run and its owner for a line of text.
func ownerText(run *agent.Run) string {
	var b strings.Builder
	for _, name := range append([][2]string{{"run", run.ID()}}, kit.OwnerNames(kit.Owner(run))...) {
		if text := shorten.Line(name[1], 120); strings.ContainsAny(text, " =\"") {
			fmt.Fprintf(&b, " %s=%q", name[0], text)
		} else {
			fmt.Fprintf(&b, " %s=%s", name[0], text)
		}
	}
	return b.String()
}
