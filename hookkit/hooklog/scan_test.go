package hooklog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// scanned returns lines that scanEvent reads.
func scanned() []string {
	minimal := `{"protocol":1,"spec":"s","point":"p","run":{},"payload":1,"decision":"continue","elapsed":0}`
	return []string{
		strings.TrimSpace(golden), minimal, "{}",
		`{ "seq" : 1 , "payload" : [ 1 , { } , [ ] ] , "run" : { } }`,
		`{"seq":-0,"payload":{"a":[true,false,null,-1.5e3,"\ud800\"",{}]},"elapsed":-9223372036854775808}`,
		`{"seq":1,"seq":2,"payload":1,"payload":[2],"run":{"id":"a","root":"b"},"run":{"id":"c"}}`,
		"{\"spec\":\"\xff\",\"reason\":\"a\\u00e9\\n\",\"payload\":\"\xff\"}",
		`{"seq":1,"later":{"seq":2,"a":[null]},"":0,"chain":{"log":"a"},"sequence":"x","hash":"b"}`,
		`{"time":"2026-03-04T05:06:07.000000008+01:00","ballots":[],"failures":null,"run":{"labels":{}}}`,
		`{"s\u0065q":1,"time":null,"run":{"later":1}}`,
	}
}

// unscanned returns lines that encoding/json reads, or refuses.
func unscanned() []string {
	return []string{
		"", "null", "[]", "{", `{"seq":1}x`, `{"seq":1,}`, `{,"seq":1}`, `{"seq":1.5}`, `{"seq":1e2}`, `{"seq":null}`,
		`{"SEQ":1}`, `{"ſeq":1}`, `{"later":tru}`,
		`{"seq":9223372036854775808}`, `{"seq":"1"}`, `{"spec":1}`,
		`{"spec":null}`, `{"time":"today"}`, `{"run":[]}`, `{"run":{"id":1}}`, `{"run":{"ID":"a"}}`,
		`{"payload":tru}`, `{"payload":01}`, `{"payload":[1,]}`, `{"payload":"` + "\n" + `"}`, `{"payload":}`, `{"payload":`,
		`{"ballots":{}}`, `{"ballots":[{}],"ballots":[]}`, `{"failures":1}`, `{"run":{"labels":{"a":"b"},"labels":{}}}`,
		fmt.Sprintf(`{"payload":%s1%s}`, strings.Repeat("[", 2000), strings.Repeat("]", 2000)),
	}
}

func TestScannedEventsAreThoseOfEncodingJSON(t *testing.T) {
	for _, line := range scanned() {
		if _, ok := scanEvent([]byte(line)); !ok {
			t.Errorf("%q is not scanned", line)
		}
		sameAsJSON(t, []byte(line))
	}
	for _, line := range unscanned() {
		if _, ok := scanEvent([]byte(line)); ok {
			t.Errorf("%q is scanned", line)
		}
	}
}

// sameAsJSON compares scanEvent, if it reads a line, with encoding/json.
func sameAsJSON(t *testing.T, line []byte) {
	t.Helper()
	before := bytes.Clone(line)
	got, ok := scanEvent(line)
	if !ok {
		return
	}
	var want Event
	if err := json.Unmarshal(line, &want); err != nil {
		t.Errorf("%q is scanned, and encoding/json refuses it: %v", line, err)
	}
	clear(line) // the reader of the file reuses it
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q is\n%+v, want\n%+v", before, got, want)
	}
}

func FuzzScanEvent(f *testing.F) {
	for _, line := range append(scanned(), unscanned()...) {
		f.Add([]byte(line))
	}
	f.Fuzz(sameAsJSON)
}
