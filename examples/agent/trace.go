package main

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// jsonLines writes every event as a line of JSON.
type jsonLines struct {
	out io.Writer

	mu  sync.Mutex
	err error // the first error
}

// Trace writes the event.
func (j *jsonLines) Trace(_ context.Context, e hookkit.Event) {
	line := struct {
		Time     time.Time     `json:"time"`
		Kind     string        `json:"kind"`
		Run      string        `json:"run"`
		Point    string        `json:"point"`
		Hook     string        `json:"hook,omitempty"`
		Site     string        `json:"site,omitempty"`
		Layer    int           `json:"layer,omitempty"`
		Priority int           `json:"priority,omitempty"`
		Duration time.Duration `json:"duration_ns"`
		Decision string        `json:"decision,omitempty"`
		Reason   string        `json:"reason,omitempty"`
		Failure  string        `json:"failure,omitempty"`
	}{
		e.Start.UTC(), e.Kind.String(), e.Run, e.Point, e.Hook, e.Site, e.Layer, e.Priority, e.Duration, e.Decision,
		e.Reason, "",
	}
	if e.Failure != nil {
		line.Failure = e.Failure.Error()
	}
	text, err := json.Marshal(line)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		_, err = j.out.Write(append(text, '\n'))
	}
	if j.err == nil {
		j.err = err
	}
}
