package hooklog

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// golden is a line as version 1 of the protocol writes it.
const golden = `{"protocol":1,"seq":7,"time":"2026-03-04T05:06:07.000000008+01:00","spec":"example.com/mail",` +
	`"point":"BeforeSend","run":{"id":"r","parent":"p","root":"t","labels":{"a":"1","user":"\u003cann\u003e"}},` +
	`"payload":{"To":"you"},"final":{"To":"me"},"decision":"Refuse","value":{"Reason":"no"},"by":"guard",` +
	`"site":"main.go:7","reason":"a \"reason\"","error":"é\n","ballots":[{"by":"b","site":"b.go:1","decision":"Deny",` +
	`"reason":"c","value":{}}],"collected":["x"],"failures":[{"by":"f","site":"f.go:2","cause":"broken"}],` +
	`"slow":[{"by":"s","site":"s.go:3","after":4,"elapsed":5}],"elapsed":9}` + "\n"

func TestLinesKeepTheirFormat(t *testing.T) {
	e := Event{
		Protocol: 1, Seq: 7, Time: time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600)), Spec: "example.com/mail",
		Point:   "BeforeSend",
		Run:     wire.RunInfo{ID: "r", Parent: "p", Root: "t", Labels: map[string]string{"user": "<ann>", "a": "1"}},
		Payload: json.RawMessage(`{"To":"you"}`), Final: json.RawMessage(`{"To":"me"}`), Decision: "Refuse",
		Value: json.RawMessage(`{"Reason":"no"}`), By: "guard", Site: "main.go:7", Reason: `a "reason"`, Error: "é\n",
		Ballots:   []Ballot{{"b", "b.go:1", "Deny", "c", json.RawMessage(`{}`)}},
		Collected: json.RawMessage(`["x"]`), Failures: []Failure{{"f", "f.go:2", "broken"}},
		Slow: []SlowHook{{"s", "s.go:3", 4, 5}}, Elapsed: 9,
	}
	line, err := new(lineWriter).line(&e, true)
	if err != nil || string(line) != golden {
		t.Errorf("the line is\n%s%v, want\n%s", line, err, golden)
	}
	var again Event
	if err := json.Unmarshal([]byte(golden), &again); err != nil {
		t.Fatal(err)
	}
	if line, err := new(lineWriter).line(&again, false); err != nil || string(line) != golden {
		t.Errorf("read and written again, the line is\n%s%v", line, err)
	}
}

// TestLinesAreThoseOfEncodingJSON writes any event, with values that json.Marshal wrote and with values of a program,
// some of which are not JSON.
func TestLinesAreThoseOfEncodingJSON(t *testing.T) {
	value := rapid.OneOf(rapid.Just[json.RawMessage](nil), rapid.Map(rapid.String(), func(s string) json.RawMessage {
		text, err := json.Marshal(s)
		if err != nil {
			t.Error(err)
		}
		return text
	}))
	raw := rapid.OneOf(value, rapid.SampledFrom([]json.RawMessage{
		{}, []byte("{"), []byte(" [ 1,\n2 ] "), []byte(`"<&>"`), []byte(`1 2`), []byte("\"\xff\""), []byte("null"),
	}))
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string {
		return string(b)
	}))
	rapid.Check(t, func(t *rapid.T) {
		encoded := rapid.Bool().Draw(t, "encoded")
		v := raw
		if encoded {
			v = value
		}
		e := Event{
			Protocol: rapid.Int().Draw(t, "protocol"), Seq: rapid.Int64().Draw(t, "seq"),
			Time: time.Unix(rapid.Int64Range(math.MinInt32*100, math.MaxInt32*200).Draw(t, "time"), 5).UTC(),
			Spec: text.Draw(t, "spec"), Point: text.Draw(t, "point"),
			Run: wire.RunInfo{
				ID: text.Draw(t, "run"), Parent: text.Draw(t, "parent"), Root: text.Draw(t, "root"),
				Labels: rapid.MapOfN(text, text, 0, 2).Draw(t, "labels"),
			},
			Payload: v.Draw(t, "payload"), Final: v.Draw(t, "final"), Decision: text.Draw(t, "decision"),
			Value: v.Draw(t, "value"), By: text.Draw(t, "by"), Site: text.Draw(t, "site"), Reason: text.Draw(t, "reason"),
			Error: text.Draw(t, "error"), Collected: v.Draw(t, "collected"),
			Ballots: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Ballot {
				return Ballot{text.Draw(t, "by"), "", text.Draw(t, "decision"), text.Draw(t, "reason"), v.Draw(t, "value")}
			}), 0, 2).Draw(t, "ballots"),
			Failures: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Failure {
				return Failure{text.Draw(t, "by"), text.Draw(t, "site"), text.Draw(t, "cause")}
			}), 0, 2).Draw(t, "failures"),
			Slow: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) SlowHook {
				return SlowHook{text.Draw(t, "by"), text.Draw(t, "site"), 1, time.Duration(rapid.Int64().Draw(t, "took"))}
			}), 0, 2).Draw(t, "slow"),
			Omitted: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Omitted {
				return Omitted{"final", text.Draw(t, "list"), rapid.Int().Draw(t, "count"), text.Draw(t, "digest")}
			}), 0, 2).Draw(t, "omitted"),
			Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")),
		}
		want, wantErr := json.Marshal(e)
		got, err := new(lineWriter).line(&e, encoded)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("the errors are %v and %v for %+v", err, wantErr, e)
		}
		if err == nil && string(got) != string(want)+"\n" {
			t.Errorf("the line is\n%swant\n%s", got, want)
		}
	})
}
