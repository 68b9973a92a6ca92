package hooklog

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// A Redaction is the option that [Redact] returns. It is legal in Open, Lines and Replay.
type Redaction func(text []byte) json.RawMessage

// Redact removes secrets from events before they are written. The function gets each JSON value of an event, one after
// the other: payloads, the exit, contributions and votes, and as JSON strings the reasons, errors and labels. A list
// can be without its first elements, see [Omitted], but not without a text before its next element. It returns the JSON
// to write. It must not change the bytes of its argument and may be called concurrently. An event for
// which it panics, or returns anything but JSON, is not written.
//
//	log, err := hooklog.Open("run.jsonl", hooklog.Redact(new(redact.Redactor).JSON))
//
// A redacted value keeps its JSON type, so that a record can be replayed. For example, a function that replaces the
// list of a header by a text yields a list with this text. A number becomes 0, true becomes false, and an object is
// empty.
//
// A replay of redacted events fires the redacted payloads. Pass the same option to [Replay], so that the decisions of
// the replay are redacted too before they are compared.
func Redact(f func(text []byte) json.RawMessage) Redaction {
	if f == nil {
		panic("hooklog: the function of Redact is nil")
	}
	return f
}

func (r Redaction) applyLog(l *Log)         { l.encoder.redact = r }
func (r Redaction) applyLines(l *lines)     { l.encoder.redact = r }
func (r Redaction) applyReplay(c *comparer) { c.redact = r }
func (r Redaction) value(v json.RawMessage) json.RawMessage {
	if v == nil {
		return nil
	}
	return keepTypes(v, r(v))
}

func (r Redaction) text(s string) string {
	quoted, err := json.Marshal(s)
	if s == "" || err != nil {
		return ""
	}
	redacted := r(quoted)
	if json.Unmarshal(redacted, &s) != nil {
		return string(redacted)
	}
	return s
}

// event redacts a copy of an event.
func (r Redaction) event(e Event) Event {
	if r == nil {
		return e
	}
	if e.Key != nil {
		e.Key = r.value(e.Key)
	}
	e.Payload, e.Final = r.value(e.Payload), r.value(e.Final)
	e.Value, e.Collected = r.value(e.Value), r.value(e.Collected)
	e.Reason, e.Error = r.text(e.Reason), r.text(e.Error)
	e.Run.Labels = maps.Clone(e.Run.Labels)
	for name, label := range e.Run.Labels {
		e.Run.Labels[name] = r.text(label)
	}
	e.Ballots = slices.Clone(e.Ballots)
	for i := range e.Ballots {
		e.Ballots[i].Reason, e.Ballots[i].Value = r.text(e.Ballots[i].Reason), r.value(e.Ballots[i].Value)
	}
	e.Failures = slices.Clone(e.Failures)
	for i := range e.Failures {
		e.Failures[i].Cause = r.text(e.Failures[i].Cause)
	}
	return e
}

// keepTypes returns the redacted value with the JSON types of the original one. A value that is not JSON stays as it
// is, so that the event is refused.
func keepTypes(original, redacted json.RawMessage) json.RawMessage {
	if bytes.Equal(original, redacted) {
		return redacted
	}
	was, err := decodeNumbers(original)
	is, failed := decodeNumbers(redacted)
	if typed, changed := keepType(was, is); changed && err == nil && failed == nil {
		if text, err := json.Marshal(typed); err == nil {
			return text
		}
	}
	return redacted
}

func decodeNumbers(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// keepType returns the value is, or a value of the type of was, and whether that is another one.
func keepType(was, is any) (typed any, changed bool) {
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok {
			return map[string]any{}, true
		}
		for key, old := range was {
			if now, ok := is[key]; ok {
				var c bool
				is[key], c = keepType(old, now)
				changed = changed || c
			}
		}
		return is, changed
	case []any:
		return keepList(was, is)
	case nil:
		return nil, is != nil
	}
	if t := reflect.TypeOf(was); reflect.TypeOf(is) != t {
		return reflect.Zero(t).Interface(), true // "", false, or the json.Number that is written as 0
	}
	return is, false
}

func keepList(was []any, is any) (typed any, changed bool) {
	texts := !slices.ContainsFunc(was, func(v any) bool { _, ok := v.(string); return !ok })
	switch is := is.(type) {
	case []any:
		for i := range min(len(is), len(was)) {
			var c bool
			is[i], c = keepType(was[i], is[i])
			changed = changed || c
		}
		return is, changed
	case string:
		if texts && len(was) > 0 {
			return []any{is}, true
		}
	}
	return []any{}, true
}
