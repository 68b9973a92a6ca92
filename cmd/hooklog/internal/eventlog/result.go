package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A result says how a run has ended, in the payload of a point at its end. Specs differ, so the fields are those of the
// payload of agentspec's OnRunEnd.
type result struct {
	Stop struct {
		Cause string `json:"cause"` // "" if the payload has no result
	} `json:"stop"`
	Usage struct {
		Cost float64 `json:"cost"`
	} `json:"usage"`
}

// resultOf returns the result in a payload. It is zero if the payload has none, or other types in its fields.
func resultOf(payload json.RawMessage) (r result) {
	if bytes.Contains(payload, []byte(`"stop"`)) && bytes.Contains(payload, []byte(`"cause"`)) {
		if json.Unmarshal(payload, &r) != nil || len(r.Stop.Cause) > maxName {
			return result{}
		}
	}
	return r
}

// checkNames returns an error if a name is too long to be kept.
func checkNames(e hooklog.Event) error {
	for _, name := range []string{e.Spec, e.Point, e.Run.ID, e.Run.Parent, e.Decision, e.By, e.Run.Labels[tenantLabel]} {
		if len(name) > maxName {
			return fmt.Errorf("it has a name of %d bytes, more than %d", len(name), maxName)
		}
	}
	return nil
}

// maxName bounds the length of the names that the index keeps, in bytes.
const maxName = 4096
