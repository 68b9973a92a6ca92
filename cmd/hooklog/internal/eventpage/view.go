package eventpage

import (
	"encoding/json"
	"fmt"
	"hash/crc64"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// views makes the data of the page from the events of an index. Its methods may be called concurrently.
type views struct{ *eventlog.Index }

// A statusView is the status of the record.
type statusView struct {
	eventlog.Status
	Names eventlog.Names `json:"names"`
}

func (v *views) status() statusView { return statusView{v.Status(), v.Names()} }

// A runView is a run with what its events say about it.
type runView struct {
	eventlog.Run
	Summary summary `json:"summary"`
}

// A summary describes a run, as far as the payloads of its first fire and of its result do. Specs differ, so the
// fields are those that the payloads of the reference spec have. A field is missing if no payload has it.
type summary struct {
	Name   string            `json:"name,omitempty"`   // the field of the index, or "task" of the first payload
	Labels map[string]string `json:"labels,omitempty"` // of the first event
	Cause  string            `json:"cause,omitempty"`  // "stop.cause" of the result
	Cost   *float64          `json:"cost,omitempty"`   // "usage.cost" of the result
	Input  int64             `json:"input,omitempty"`  // "usage.input_tokens"
	Output int64             `json:"output,omitempty"` // "usage.output_tokens"
	Kind   string            `json:"kind,omitempty"`   // of the outcome: good, bad, exit
}

const maxTask = 300 // bytes

// run reads a few events of a run. It leaves out events that it cannot read.
func (v *views) run(r eventlog.Run) runView {
	var s summary
	if first, _, err := v.Event(r.First); err == nil {
		s.Name = short(taskField.Of(first.Payload), maxTask)
		s.Labels = maps.Clone(first.Run.Labels)
		for name, label := range s.Labels {
			s.Labels[name] = short(label, maxTask)
		}
	}
	if named, _, err := v.Event(r.Named); err == nil {
		if name := v.Name.Of(named.Payload); name != "" {
			s.Name = short(name, maxTask)
		}
	}
	switch {
	case IsGood(r.Outcome):
		s.Kind = "good"
	case r.Outcome == "failed", r.Ended >= 0 && strings.Contains(strings.ToLower(r.Outcome), "error"):
		s.Kind = "bad"
	case r.Outcome != "":
		s.Kind = "exit"
	}
	if end, _, err := v.Event(r.Ended); err == nil {
		var result struct {
			Usage struct {
				Cost   *float64 `json:"cost"`
				Input  int64    `json:"input_tokens"`
				Output int64    `json:"output_tokens"`
			} `json:"usage"`
		}
		_ = json.Unmarshal(end.Payload, &result) // the index has read the rest of the result
		s.Cause = short(r.Outcome, maxTask)
		s.Cost, s.Input, s.Output = result.Usage.Cost, result.Usage.Input, result.Usage.Output
	}
	return runView{r, s}
}

// taskField is the field that names the runs of an agent.
var taskField = eventlog.Field{Path: []string{"task"}}

// short returns the beginning of a text.
func short(s string, most int) string {
	parts := beginning(Part{Text: s}, most)
	if len(parts) > 1 {
		return parts[0].Text + "…"
	}
	return s
}

// A fireView is a fire in a timeline.
type fireView struct {
	Event    int           `json:"event"`
	Run      int           `json:"run"`
	Seq      int64         `json:"seq"`
	Time     time.Time     `json:"time"`
	Point    string        `json:"point"`
	Decision string        `json:"decision"`
	Kind     string        `json:"kind"` // continue, change, good (an exit that permits), exit
	By       string        `json:"by,omitempty"`
	Reason   string        `json:"reason,omitempty"`  // or the error, or the cause of the first failure; shortened
	Excerpt  string        `json:"excerpt,omitempty"` // the beginning of the payload, if there is no Reason
	Failures int           `json:"failures,omitempty"`
	Error    bool          `json:"error,omitempty"`
	Collects bool          `json:"collects,omitempty"`
	Elapsed  time.Duration `json:"elapsed"`
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Sum      uint64        `json:"sum"`    // of the payload, to see whether two fires have the same one
	Result   uint64        `json:"result"` // the same of what the hooks made of it
	Span     *spanView     `json:"span,omitempty"`
	Said     *saidView     `json:"said,omitempty"` // only in a conversation
}

// sumsOf returns checksums that a script can read as numbers: of the payload of an event, and of what the hooks made of
// it, which is the payload after them, the exit and the contributions.
func sumsOf(e hooklog.Event) (payload, result uint64) {
	payload = crc64.Checksum(e.Payload, sumTable)
	for _, part := range []json.RawMessage{e.Final, e.Value, e.Collected} {
		result = crc64.Update(crc64.Update(result, sumTable, part), sumTable, []byte{0})
	}
	for _, o := range e.Omitted {
		left := []byte(o.In + o.List + o.Digest)
		payload, result = crc64.Update(payload, sumTable, left), crc64.Update(result, sumTable, left)
	}
	return payload >> 12, result >> 12
}

var sumTable = crc64.MakeTable(crc64.ECMA)

func kindOf(e hooklog.Event) string {
	switch {
	case e.Decision == wire.Replace || e.Decision == wire.Edit:
		return "change"
	case e.Decision == wire.Continue && e.Final != nil:
		return "change"
	case e.Decision == wire.Continue:
		return "continue"
	case IsGood(e.Decision):
		return "good"
	}
	return "exit"
}

// Specs choose the names of exits, so that a page can only know the usual words. PasswordRequired begins with none.
var good = regexp.MustCompile(`(?i)^(allow|accept|approve|complete|confirm|finish|grant|pass|permit)` +
	`(s|t?ed|d|ing)?(once|always|_|$)|^(done|ok|succe\w*)(_|$)`)

// IsGood reports whether a name is that of an exit that permits something, or of a cause with which a run ends as it
// should.
func IsGood(name string) bool { return good.MatchString(name) }

func fireOf(n int, e hooklog.Event, place eventlog.Place) fireView {
	f := fireView{
		Event: n, Run: place.Run, Seq: e.Seq, Time: e.Time, Point: e.Point, Decision: e.Decision, Kind: kindOf(e), By: e.By,
		Reason: e.Reason, Failures: len(e.Failures), Error: e.Error != "", Collects: e.Collected != nil, Elapsed: e.Elapsed,
		File: place.File, Line: place.Line, Span: spanOf(e),
	}
	f.Sum, f.Result = sumsOf(e)
	if f.Reason == "" {
		f.Reason = e.Error
	}
	if f.Reason == "" && len(e.Failures) > 0 {
		f.Reason = e.Failures[0].Cause
	}
	if f.Reason == "" {
		f.Excerpt = excerpt(e.Payload)
	}
	f.Reason = short(f.Reason, maxTask)
	return f
}

// excerpt returns the beginning of a payload, as much as a line of the page has room for.
func excerpt(payload json.RawMessage) string {
	const most = 160 // bytes
	end := ""
	if len(payload) > most {
		payload, end = payload[:most], "…"
	}
	return inHTML.Replace(strings.ToValidUTF8(string(payload), "")) + end
}

// inHTML replaces the escapes that encoding/json writes only for HTML.
var inHTML = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// A detailView is everything about a fire.
type detailView struct {
	fireView
	RunID     string             `json:"runID"`
	At        int                `json:"at"` // the place in the timeline of its run
	Parent    string             `json:"parent,omitempty"`
	Spec      string             `json:"spec"`
	Site      string             `json:"site,omitempty"`
	Key       string             `json:"key,omitempty"`       // at a point with a key, as JSON
	Whole     string             `json:"whole,omitempty"`     // the reason, not shortened
	ErrorText string             `json:"errorText,omitempty"` // that Fire returned
	Ballots   []ballotView       `json:"ballots,omitempty"`
	Failed    []hooklog.Failure  `json:"failed,omitempty"`
	Slow      []hooklog.SlowHook `json:"slow,omitempty"`
	Value     *Text              `json:"value,omitempty"`
	Collected *Text              `json:"collected,omitempty"`
	Payload   *Text              `json:"payload"`
	Omitted   []string           `json:"omitted,omitempty"` // lists of which only the end is known
	Final     *Text              `json:"final,omitempty"`
	Change    *Text              `json:"change,omitempty"` // from Payload to Final
}

type ballotView struct {
	By       string `json:"by"`
	Site     string `json:"site"`
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	Value    *Text  `json:"value,omitempty"`
}

// detail reads a fire.
func (v *views) detail(n int) (detailView, error) {
	e, place, err := v.Whole(n)
	if err != nil {
		return detailView{}, err
	}
	d := detailView{
		fireView: fireOf(n, e, place), RunID: e.Run.ID, At: v.PlaceInRun(n), Parent: e.Run.Parent, Spec: e.Spec,
		Site: short(e.Site, maxPart), Key: short(string(e.Key), maxPart),
		Whole: short(e.Reason, maxReason), ErrorText: short(e.Error, maxReason),
		Value: textOf(e.Value), Collected: textOf(e.Collected), Payload: textOf(e.Payload),
	}
	for _, o := range e.Omitted {
		d.Omitted = append(d.Omitted, fmt.Sprintf("%d elements of %s in the %s", o.Count, short(o.List, maxPart),
			short(o.In, maxPart)))
	}
	for _, b := range e.Ballots {
		d.Ballots = append(d.Ballots, ballotView{
			short(b.By, maxPart), short(b.Site, maxPart), short(b.Decision, maxPart), short(b.Reason, maxReason),
			textOf(b.Value),
		})
	}
	for _, f := range e.Failures {
		d.Failed = append(d.Failed, hooklog.Failure{
			By: short(f.By, maxPart), Site: short(f.Site, maxPart), Cause: short(f.Cause, maxReason),
		})
	}
	for _, h := range e.Slow {
		h.By, h.Site = short(h.By, maxPart), short(h.Site, maxPart)
		d.Slow = append(d.Slow, h)
	}
	if e.Final != nil {
		d.Final, d.Change = textOf(e.Final), Difference(e.Payload, e.Final)
	}
	return d, nil
}

// maxReason bounds reasons and errors, in bytes. The rest of a longer one is in no view.
const maxReason = 64 << 10

// whole returns the whole text of a part of an event.
func (v *views) whole(n int, what string) (string, error) {
	e, _, err := v.Whole(n)
	if err != nil {
		return "", err
	}
	return Pretty(map[string]json.RawMessage{
		"payload": e.Payload, "final": e.Final, "value": e.Value, "collected": e.Collected,
	}[what]), nil
}

// An itemView is a part of the timeline of a run. It has a Fire or a Run.
type itemView struct {
	At    int       `json:"at"` // see eventlog.Item
	Fire  *fireView `json:"fire,omitempty"`
	Run   *runView  `json:"run,omitempty"`
	Error string    `json:"error,omitempty"` // why the fire cannot be shown
}

// A timelineView is a part of a timeline.
type timelineView struct {
	Items []itemView `json:"items"`
	More  bool       `json:"more"`
}

func (v *views) timeline(run int, w eventlog.Window, conversation bool) timelineView {
	items, more := v.Items(run, w)
	t := timelineView{Items: []itemView{}, More: more}
	for _, i := range items {
		item := itemView{At: i.At}
		if i.Run != nil {
			r := v.run(*i.Run)
			item.Run = &r
		} else if e, place, err := v.Event(i.Event); err != nil {
			item.Error = err.Error()
		} else {
			f := fireOf(i.Event, e, place)
			if conversation && i.Spoken {
				f.Said = saidOf(e)
			}
			item.Fire = &f
		}
		t.Items = append(t.Items, item)
	}
	return t
}
