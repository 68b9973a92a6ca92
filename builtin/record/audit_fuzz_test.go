package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// auditOf returns a log with a record for each reason, with or without a key.
func auditOf(key []byte, reasons ...string) []byte {
	var log []byte
	prev := ""
	for i, reason := range reasons {
		r := AuditRecord{
			Time:   time.Unix(1e9, 0).UTC(),
			Log:    "l",
			Seq:    uint64(i) + 1,
			Run:    "r",
			Point:  "BeforeTool",
			Reason: reason,
			Prev:   prev,
		}
		r.Args = jsonx.Encode(map[string]string{"path": reason})
		line, hash := chained(jsonx.Encode(r), key)
		log, prev = append(log, line...), hash
	}
	return log
}

// eventLine returns the line of an event with a reason, as hooklog.Lines writes it.
func eventLine(reason string) []byte {
	var line bytes.Buffer
	_ = hooklog.Lines(&line).WriteEvent(context.Background(), hooklog.Event{
		Protocol: wire.Protocol, Seq: 1, Time: time.Unix(1e9, 0).UTC(), Spec: "s", Point: "BeforeTool", Payload: []byte("{}"),
		Decision: wire.Continue, Reason: reason,
	})
	return line.Bytes()
}

// eventsOf is auditOf for events.
func eventsOf(key []byte, reasons ...string) []byte {
	var log []byte
	link := chainLink{Log: "l"}
	for _, reason := range reasons {
		link.Seq++
		line, hash, _ := chainedLine(auditedEvent{line: eventLine(reason)}, link, key)
		log, link.Prev = append(log, line...), hash
	}
	return log
}

// FuzzReadAudit reads any data as an audit log. Each line yields a record or an error with the line number, and a
// record is unchanged after it is written and read again. If VerifyAudit accepts the log, it also accepts the log
// after a record was appended.
func FuzzReadAudit(f *testing.F) {
	whole := string(auditOf(nil, "a", "b\nc"))
	for _, s := range []string{
		whole, whole[:len(whole)-1], whole + `{"time":"20`, whole + whole, whole + "\n\nx\n\ny",
		strings.ReplaceAll(whole, "\n", "\r\n"), `{"time":"20`, "\n\n", "{}\n[]\n{\"point\":1}",
		strings.Replace(whole, `"seq":2`, `"seq":18446744073709551615`, 1),
		strings.Replace(whole, `"seq":2`, `"seq":2,"lost":-1,"LOST":9223372036854775807`, 1),
		`{"time":"0000-00-00T00:00:00Z","point":"x","duration_ms":1e400}`,
		`{"point":"x","from":{"from":null},"args":{"a":[` + strings.Repeat("[", 300) + strings.Repeat("]",
			300) + `]},"failures":[null,{}],"ballots":[{}]}`,
		string(auditOf([]byte("k"), "keyed")),
		string(eventsOf(nil, "a", "b\nc")), string(eventsOf(nil, "a")) + `{"protocol":1,"se`,
		strings.Replace(string(eventsOf(nil, "a")), `"chain":`, `"CHAIN":null,"chain":`, 1),
	} {
		f.Add([]byte(s))
	}
	for _, text := range []string{`"log":"\u001b[2J"`, `"prev":"\u001b[2J\n"`, `"broken":"\nline 1: \u001b[2J"`} {
		line, _ := chained([]byte(`{"point":"x","seq":1,`+text+`}`), nil)
		f.Add(line)
		f.Add(append(line, line...))
	}
	for _, s := range fixture.HostileJSON {
		line, _ := chained([]byte(`{"point":"x","data":`+s+`}`), nil)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		lines := bytes.Count(log, []byte("\n")) + 1
		n := 0
		for r, err := range ReadAudit(bytes.NewReader(log)) {
			n++
			var at int
			if err != nil {
				if _, scan := fmt.Sscanf(err.Error(), "line %d is not an audit record: ", &at); scan != nil || at < 1 ||
					at > lines || r.Point != "" {
					t.Errorf("%+v, %v", r, err)
				}
				continue
			}
			var again AuditRecord
			if err := json.Unmarshal(jsonx.Encode(r), &again); err != nil || !bytes.Equal(jsonx.Encode(again), jsonx.Encode(r)) {
				t.Errorf("%+v came back as %+v", r, again)
			}
		}
		if n > lines {
			t.Errorf("%d answers about %d lines", n, lines)
		}
		replayed := new(hookkit.TraceRecorder)
		_ = ReplayAudit(context.Background(), bytes.NewReader(log), "", replayed)
		if len(replayed.Events()) > n {
			t.Errorf("%d events of %d lines", len(replayed.Events()), n)
		}
		_, err := VerifyAudit(bytes.NewReader(log), AuditCheck{})
		if err == nil && len(log) > 0 {
			appendHolds(t, log, 0)
		}
		if err != nil && strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f }) {
			t.Errorf("the error controls a terminal: %q", err)
		}
	})
}

// appendHolds checks that a log is still valid after a record is appended, even after incomplete lines.
func appendHolds(t *testing.T, log []byte, torn int) {
	end, err := readChainEnd(bytes.NewReader(log), int64(len(log)), nil)
	if err != nil || end.broken != "" {
		if len(bytes.Trim(log, "\n")) > 0 && isPartial(log) {
			t.Errorf("nothing can be appended to %q: %v, %q", log, err, end.broken)
		}
		return
	}
	if end.Seq+1 == 0 {
		return // no number follows the largest
	}
	more := bytes.Clone(log)
	if end.open {
		more = append(more, '\n')
	}
	line, _ := chained(jsonx.Encode(AuditRecord{
		Log:   end.Log,
		Seq:   end.Seq + 1,
		Point: "x",
		Prev:  end.Hash,
		Torn:  end.torn,
	}), nil)
	state, err := VerifyAudit(bytes.NewReader(append(more, line...)), AuditCheck{})
	if err != nil || state.Torn < torn {
		t.Errorf("after %q a record is not accepted: %+v, %v", log, state, err)
	}
}

// FuzzAuditChanges changes one byte of a log, or leaves an incomplete line at its end. The change is detected, with
// and without a key; the next record confirms the incomplete line.
func FuzzAuditChanges(f *testing.F) {
	f.Add("a", "b", uint(10), byte('x'), []byte("half a li"))
	f.Add(`","hash":"`, "\n\u2028<&>", uint(0), byte('['), []byte(`{"time":"20`))
	f.Add("", "\xff\x00", uint(300), byte('\n'), []byte("\n\nx\n\n"))
	f.Add("x", "y", uint(1000), byte('A'), []byte("\r\n\r"))
	f.Add("a", "a", uint(1<<20), byte(' '), auditOf([]byte("other"), "z"))
	f.Fuzz(func(t *testing.T, one, two string, at uint, to byte, tail []byte) {
		key := []byte("key")
		log := auditOf(key, one, two, one)
		state, err := VerifyAudit(bytes.NewReader(log), AuditCheck{Key: key})
		if err != nil || state.Records != 3 {
			t.Fatalf("%q is not accepted: %+v, %v", log, state, err)
		}
		changed := bytes.Clone(log)
		i := int(at % uint(len(log)))
		if changed[i] = to; log[i] != to && i < len(log)-1 { // the last line may lack its newline
			if _, err = VerifyAudit(bytes.NewReader(changed), AuditCheck{Key: key}); err == nil {
				t.Errorf("%q is accepted as %q", changed, log)
			}
		}
		end := i % 3
		rest := bytes.Join(bytes.SplitAfter(log, []byte("\n"))[:end], nil)
		if cut, err := VerifyAudit(bytes.NewReader(rest), AuditCheck{Key: key, Head: state.Hash}); err == nil {
			t.Errorf("%d of 3 records are accepted: %+v", end, cut)
		}

		for line := range bytes.SplitSeq(tail, []byte("\n")) {
			if _, is := parseChainLine(line); is {
				return
			}
		}
		torn := 0
		if len(bytes.Trim(tail, "\n")) > 0 && isPartial(tail) {
			torn = 1
		}
		appendHolds(t, append(auditOf(nil, one, two), tail...), torn)
	})
}
