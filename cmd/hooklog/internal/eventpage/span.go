package eventpage

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A spanView says which act a fire is about, for the bars of the page: a call or a wait of an agent, or the step
// between the points BeforeX and AfterX of any spec.
type spanView struct {
	// Kind is model or tool, for a call that ends with the fire; or ask or answer, around a wait for a person; "" at a
	// point BeforeX or AfterX.
	Kind string        `json:"kind,omitempty"`
	Name string        `json:"name,omitempty"` // of the model or the tool
	Call string        `json:"call,omitempty"` // the ID of the act; "" if the payload has none, or if the whole run waits
	Took time.Duration `json:"took,omitempty"`
}

// spanOf returns the span of a fire, or nil.
func spanOf(e hooklog.Event) *spanView {
	kind := spanKinds[e.Point]
	if kind == "" {
		return stepOf(e)
	}
	var p struct {
		Call    struct{ ID, Name string } `json:"call"`
		Model   string                    `json:"model"`
		Elapsed time.Duration             `json:"elapsed_ns"`
		Resumed string                    `json:"resumed"`
		Stop    struct{ Cause string }    `json:"stop"`
	}
	if json.Unmarshal(e.Payload, &p) != nil {
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

// stepOf returns the span of a fire at a point BeforeX or AfterX whose payload names the act, or nil.
func stepOf(e hooklog.Event) *spanView {
	if !strings.HasPrefix(e.Point, "Before") && !strings.HasPrefix(e.Point, "After") || len(e.Payload) > maxCompare {
		return nil
	}
	if id := idIn(e.Payload); id != "" {
		return &spanView{Call: short(id, maxTask)}
	}
	return nil
}

// idIn returns the field id of a payload, or of the one object in it that has an id: the payload of AfterX often has
// that of BeforeX in a field. It returns "" for none, and for several.
func idIn(payload json.RawMessage) string {
	type named struct{ ID json.RawMessage }
	var whole named
	var fields map[string]named
	// Fields of other types have no ID. That of a null begins with n.
	_, _ = json.Unmarshal(payload, &whole), json.Unmarshal(payload, &fields)
	isID := func(n named) bool { return len(n.ID) > 0 && !strings.ContainsRune("{[n", rune(n.ID[0])) }
	if isID(whole) {
		return string(whole.ID)
	}
	inner := slices.DeleteFunc(slices.Collect(maps.Values(fields)), func(n named) bool { return !isID(n) })
	if len(inner) != 1 {
		return ""
	}
	return string(inner[0].ID)
}
