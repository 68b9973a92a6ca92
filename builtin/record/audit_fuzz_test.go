package record

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// eventOf returns an event with a reason.
func eventOf(reason string) auditedEvent {
	var line bytes.Buffer
	_ = hooklog.Lines(&line).WriteEvent(context.Background(), hooklog.Event{
		Protocol: wire.Protocol, Seq: 1, Time: time.Unix(1e9, 0).UTC(), Spec: "s", Point: "BeforeTool", Payload: []byte("{}"),
		Decision: wire.Continue, Reason: reason,
	})
	return auditedEvent{line: line.Bytes()}
}

// auditOf returns a log with an event for each reason, with or without a key.
func auditOf(key []byte, reasons ...string) []byte {
	var log []byte
	link := chainLink{Log: "l"}
	for _, reason := range reasons {
		link.Seq++
		line, hash, _ := chainedLine(eventOf(reason), link, key)
		log, link.Prev = append(log, line...), hash
	}
	return log
}

// FuzzVerifyAudit verifies any data as an audit log. If VerifyAudit accepts it, it also accepts it after an event was
// appended.
func FuzzVerifyAudit(f *testing.F) {
	whole := string(auditOf(nil, "a", "b\nc"))
	for _, s := range []string{
		whole, whole[:len(whole)-1], whole + `{"protocol":1,"se`, whole + whole, whole + "\n\nx\n\ny",
		strings.ReplaceAll(whole, "\n", "\r\n"), `{"protocol":1`, "\n\n", "{}\n[]\n{\"point\":1}",
		strings.Replace(whole, `"seq":2`, `"seq":18446744073709551615`, 1),
		strings.Replace(whole, `"seq":2`, `"seq":2,"lost":-1,"LOST":9223372036854775807`, 1),
		string(auditOf([]byte("k"), "keyed")),
		strings.Replace(string(auditOf(nil, "a")), `"chain":`, `"CHAIN":null,"chain":`, 1),
	} {
		f.Add([]byte(s))
	}
	for _, text := range []string{`"log":"\u001b[2J"`, `"prev":"\u001b[2J\n"`, `"broken":"\nline 1: \u001b[2J"`} {
		line, _ := chained([]byte(`{"protocol":1,"chain":{"seq":1,`+text+`}}`), nil)
		f.Add(line)
		f.Add(append(line, line...))
	}
	for _, s := range fixture.HostileJSON {
		line, _ := chained([]byte(`{"protocol":1,"payload":`+s+`,"chain":`+s+`}`), nil)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
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
	end, err := new(auditChain).end(linesBackward(bytes.NewReader(log), int64(len(log))), "")
	if err != nil || end.broken != "" {
		if allPartial(log) {
			t.Errorf("nothing can be appended to %q: %v, %q", log, err, end.broken)
		}
		return
	}
	if end.Seq+1 == 0 {
		return // no number follows the largest
	}
	more := bytes.Clone(log)
	if len(log) > 0 && log[len(log)-1] != '\n' {
		more = append(more, '\n')
	}
	line, _, _ := chainedLine(eventOf("more"), end.next(), nil)
	state, err := VerifyAudit(bytes.NewReader(append(more, line...)), AuditCheck{})
	if err != nil || state.Torn < torn {
		t.Errorf("after %q a record is not accepted: %+v, %v", log, state, err)
	}
}

// allPartial reports whether a text consists of lines as killed writers leave them.
func allPartial(text []byte) bool {
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if !isPartial(line) {
			return false
		}
	}
	return len(bytes.Trim(text, "\n")) > 0
}

// FuzzAuditChanges changes one byte of a log, or leaves an incomplete line at its end. The change is detected, with
// and without a key; the next record confirms the incomplete line.
func FuzzAuditChanges(f *testing.F) {
	f.Add("a", "b", uint(10), byte('x'), []byte("half a li"))
	f.Add(`","hash":"`, "\n\u2028<&>", uint(0), byte('['), []byte(`{"protocol":1`))
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
		if allPartial(tail) {
			torn = 1
		}
		appendHolds(t, append(auditOf(nil, one, two), tail...), torn)
	})
}
