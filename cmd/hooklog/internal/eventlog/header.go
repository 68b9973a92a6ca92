package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/internal/eventline"
)

// A header is a hooklog.Event whose payloads were skipped. It is decoded with the checks of hooklog.Read.
type header struct {
	Protocol  int               `json:"protocol"`
	Seq       int64             `json:"seq"`
	Time      time.Time         `json:"time"`
	Spec      string            `json:"spec"`
	Point     string            `json:"point"`
	Run       wire.RunInfo      `json:"run"`
	Payload   payload           `json:"payload"`
	Final     present           `json:"final"`
	Decision  string            `json:"decision"`
	Value     present           `json:"value"`
	By        string            `json:"by"`
	Site      string            `json:"site"`
	Reason    string            `json:"reason"`
	Error     string            `json:"error"`
	Ballots   []ballot          `json:"ballots"`
	Collected present           `json:"collected"`
	Failures  []hooklog.Failure `json:"failures"`
	Elapsed   time.Duration     `json:"elapsed"`
}

// A ballot is a hooklog.Ballot whose value was skipped.
type ballot struct {
	By       string  `json:"by"`
	Site     string  `json:"site"`
	Decision string  `json:"decision"`
	Reason   string  `json:"reason"`
	Value    present `json:"value"`
}

// present reports whether a value was given. Decoding one copies nothing.
type present bool

// UnmarshalJSON implements json.Unmarshaler.
func (p *present) UnmarshalJSON([]byte) error { *p = true; return nil }

// A payload was skipped, except for the result of a run.
type payload struct {
	given bool
	result
}

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

// UnmarshalJSON implements json.Unmarshaler.
func (p *payload) UnmarshalJSON(text []byte) error {
	*p = payload{given: true}
	if bytes.Contains(text, []byte(`"stop"`)) && bytes.Contains(text, []byte(`"cause"`)) {
		if json.Unmarshal(text, &p.result) != nil || len(p.Stop.Cause) > maxName {
			p.result = result{} // the payload has other types in these fields
		}
	}
	return nil
}

// event returns the event without its payloads.
func (h *header) event() hooklog.Event {
	e := hooklog.Event{
		Time: h.Time, Spec: h.Spec, Point: h.Point, Run: h.Run, Decision: h.Decision, By: h.By, Site: h.Site, Error: h.Error,
		Failures: h.Failures, Elapsed: h.Elapsed,
	}
	for _, b := range h.Ballots {
		e.Ballots = append(e.Ballots, hooklog.Ballot{By: b.By, Site: b.Site})
	}
	return e
}

// readHeader reads the header of the event in a line.
func readHeader(line []byte) (h header, err error) {
	if err := eventline.Unmarshal(line, &h); err != nil {
		return h, err
	}
	head := eventline.Head{
		Protocol: h.Protocol, Spec: h.Spec, Point: h.Point, Decision: h.Decision, Payload: h.Payload.given,
	}
	if err := head.Check(wire.Protocol); err != nil {
		return h, err
	}
	for _, name := range []string{h.Spec, h.Point, h.Run.ID, h.Run.Parent, h.Decision, h.By, h.Run.Labels[tenantLabel]} {
		if len(name) > maxName {
			return h, fmt.Errorf("it has a name of %d bytes, more than %d", len(name), maxName)
		}
	}
	return h, nil
}

// maxName bounds the length of the names that the index keeps, in bytes.
const maxName = 4096
