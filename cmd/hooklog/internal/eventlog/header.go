package eventlog

import (
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
	Payload   present           `json:"payload"`
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

// readHeader reads the header of the event in a line.
func readHeader(line []byte) (h header, err error) {
	if err := eventline.Unmarshal(line, &h); err != nil {
		return h, err
	}
	head := eventline.Head{
		Protocol: h.Protocol, Spec: h.Spec, Point: h.Point, Decision: h.Decision, Payload: bool(h.Payload),
	}
	if err := head.Check(wire.Protocol); err != nil {
		return h, err
	}
	for _, name := range []string{h.Spec, h.Point, h.Run.ID, h.Run.Parent, h.Decision, h.By} {
		if len(name) > maxName {
			return h, fmt.Errorf("it has a name of %d bytes, more than %d", len(name), maxName)
		}
	}
	return h, nil
}

// maxName bounds the length of the names that the index keeps, in bytes.
const maxName = 4096
