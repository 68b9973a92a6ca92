package hooklog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A lineWriter makes the lines of a sink, one at a time.
type lineWriter struct {
	redact Redaction
	lists  lists
	buf    []byte // for lines; a long one is not kept, because most lines are short
}

const longestKept = 256 << 10

// line returns the line for an event, with its line break. It is valid until the next one. The caller says with written
// whether the line is in the record, before it asks for the next one.
//
// The result is that of json.Marshal, which would scan and copy each payload a second time. If encoded, the payload and
// the other JSON values are results of json.Marshal already. Otherwise they come from a program or a redaction, and are
// checked.
func (w *lineWriter) line(of *Event, encoded bool) ([]byte, error) {
	e := of.Whole()
	sums := w.lists.cut(&e, w.redact != nil)
	if w.redact != nil {
		e, encoded = w.redact.event(e), false
	}
	if len(sums) > 0 && !encoded { // the digests are those of the text in the line
		for _, value := range []*json.RawMessage{&e.Payload, &e.Final} {
			if text, err := json.Marshal(*value); err == nil && *value != nil {
				*value = text
			}
		}
	}
	if len(sums) > 0 {
		w.lists.keep(&e, sums)
	}
	l := lineEncoder{buf: w.buf[:0], encoded: encoded}
	l.event(&e)
	if l.err != nil {
		return nil, l.err
	}
	if n := len(l.buf); n > MaxLine {
		return nil, fmt.Errorf("it has %d bytes, more than %d; shorten it with hooklog.Redact", n, MaxLine)
	}
	if w.buf = nil; cap(l.buf) <= longestKept {
		w.buf = l.buf
	}
	return append(l.buf, '\n'), nil
}

// written says whether the last line was written. If not, later lines must not refer to it.
func (w *lineWriter) written(err error) error {
	if err != nil {
		w.lists = lists{}
	}
	return err
}

// A lineEncoder appends the fields of an event in the order of the type.
type lineEncoder struct {
	buf     []byte
	encoded bool // JSON values are results of json.Marshal
	err     error
}

func (l *lineEncoder) event(e *Event) {
	l.buf = strconv.AppendInt(append(l.buf, `{"protocol":`...), int64(e.Protocol), 10)
	l.buf = strconv.AppendInt(append(l.buf, `,"seq":`...), e.Seq, 10)
	l.buf = append(l.buf, `,"time":"`...)
	l.buf, l.err = e.Time.AppendText(l.buf)
	l.buf = append(l.buf, `","spec":`...)
	l.string(e.Spec)
	l.buf = append(l.buf, `,"point":`...)
	l.string(e.Point)
	l.run(e.Run)
	l.optionalValue(`,"key":`, e.Key)
	l.value(`,"payload":`, e.Payload)
	l.optionalValue(`,"final":`, e.Final)
	l.buf = append(l.buf, `,"decision":`...)
	l.string(e.Decision)
	l.optionalValue(`,"value":`, e.Value)
	l.optional(`,"by":`, e.By)
	l.optional(`,"site":`, e.Site)
	l.optional(`,"reason":`, e.Reason)
	l.optional(`,"error":`, e.Error)
	if len(e.Ballots) > 0 {
		l.marshal(`,"ballots":`, e.Ballots)
	}
	if len(e.Omitted) > 0 {
		l.marshal(`,"omitted":`, e.Omitted)
	}
	l.optionalValue(`,"collected":`, e.Collected)
	if len(e.Failures) > 0 {
		l.marshal(`,"failures":`, e.Failures)
	}
	if len(e.Slow) > 0 {
		l.marshal(`,"slow":`, e.Slow)
	}
	l.buf = strconv.AppendInt(append(l.buf, `,"elapsed":`...), int64(e.Elapsed), 10)
	l.buf = append(l.buf, '}')
}

func (l *lineEncoder) run(r wire.RunInfo) {
	l.buf = append(l.buf, `,"run":{`...)
	start := len(l.buf)
	l.optional(`,"id":`, r.ID)
	l.optional(`,"parent":`, r.Parent)
	l.optional(`,"root":`, r.Root)
	if len(r.Labels) > 0 {
		l.marshal(`,"labels":`, r.Labels)
	}
	if len(l.buf) > start { // without the first comma
		l.buf = append(l.buf[:start], l.buf[start+1:]...)
	}
	l.buf = append(l.buf, '}')
}

// optionalValue appends a field with a JSON value unless the value is empty.
func (l *lineEncoder) optionalValue(field string, v json.RawMessage) {
	if len(v) > 0 {
		l.value(field, v)
	}
}

// value appends a field with a JSON value.
func (l *lineEncoder) value(field string, v json.RawMessage) {
	if !l.encoded || v == nil {
		l.marshal(field, v)
		return
	}
	l.buf = append(append(l.buf, field...), v...)
}

// marshal appends a field with any value.
func (l *lineEncoder) marshal(field string, v any) {
	text, err := json.Marshal(v)
	if l.err == nil {
		l.err = err
	}
	l.buf = append(append(l.buf, field...), text...)
}

// optional appends a field with a text unless the text is empty.
func (l *lineEncoder) optional(field, s string) {
	if s != "" {
		l.buf = append(l.buf, field...)
		l.string(s)
	}
}

// plainByte has the bytes that json.Marshal does not escape.
var plainByte = func() (plain [256]bool) {
	for c := ' '; c <= '~'; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return plain
}()

// string appends a text as JSON. Most texts are plain names, which need no escapes.
func (l *lineEncoder) string(s string) {
	for i := range len(s) {
		if !plainByte[s[i]] {
			l.marshal("", s)
			return
		}
	}
	l.buf = append(append(append(l.buf, '"'), s...), '"')
}
