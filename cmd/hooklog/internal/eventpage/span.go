package eventpage

import (
	"encoding/json"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A spanView is the time of a call or a wait that a fire of an agent's point shows, for the bars of the page. Other
// specs need none: the page draws a bar from a point with the name BeforeX to the next fire of AfterX.
type spanView struct {
	// Kind is model or tool, for a call that ends with the fire; or ask or answer, around a wait for a person.
	Kind string        `json:"kind"`
	Name string        `json:"name,omitempty"` // of the model or the tool
	Call string        `json:"call,omitempty"` // the ID of the call that a person decides; "" if the whole run waits
	Took time.Duration `json:"took,omitempty"`
}

// spanOf returns the span of a fire, or nil.
func spanOf(e hooklog.Event) *spanView {
	var p struct {
		Call    struct{ ID, Name string } `json:"call"`
		Model   string                    `json:"model"`
		Elapsed time.Duration             `json:"elapsed_ns"`
		Resumed string                    `json:"resumed"`
		Stop    struct{ Cause string }    `json:"stop"`
	}
	kind := spanKinds[e.Point]
	if kind == "" || json.Unmarshal(e.Payload, &p) != nil {
		return nil
	}
	s := spanView{Kind: kind, Name: short(p.Call.Name, maxTask), Call: short(p.Call.ID, maxTask)}
	switch {
	case kind == "model" || kind == "tool":
		s.Took = max(0, p.Elapsed)
		if kind == "model" {
			s.Name = short(p.Model, maxTask)
		}
	case e.Point == "OnRunEnd" && p.Stop.Cause != "suspended" || e.Point == "OnRunStart" && p.Resumed == "":
		return nil
	}
	return &s
}

var spanKinds = map[string]string{
	"AfterLLM": "model", "AfterTool": "tool", "BeforeAsk": "ask", "OnPermissionGranted": "answer",
	"OnPermissionDenied": "answer", "OnRunEnd": "ask", "OnRunStart": "answer",
}
