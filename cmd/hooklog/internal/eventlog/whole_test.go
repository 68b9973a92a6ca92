package eventlog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// Two runs take turns, and each event has the whole list of its run.
func TestAnEventIsReadWithItsWholeLists(t *testing.T) {
	var text bytes.Buffer
	sink := hooklog.Lines(&text)
	var want []string
	messages := make(map[string][]string)
	for i := range 20 {
		run := []string{"a", "b"}[i%2]
		messages[run] = append(messages[run], fmt.Sprintf(`{"n":%d,"text":"%0500d"}`, i, i))
		e := event(int64(i+1), run)
		e.Payload = json.RawMessage(fmt.Sprintf(`{"messages":[%s]}`, strings.Join(messages[run], ",")))
		want = append(want, string(e.Payload))
		if err := sink.WriteEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	x, _ := open(t, text.String())
	update(t, x)
	for n := range want {
		part, _, err := x.Event(n)
		if err != nil || n > 5 && len(part.Omitted) != 1 {
			t.Errorf("event %d leaves out %v, %v", n, part.Omitted, err)
		}
		whole, place, err := x.Whole(n)
		if err != nil || string(whole.Payload) != want[n] || len(whole.Omitted) > 0 || place.Line != n+1 {
			t.Errorf("event %d in line %d is %s, %v", n, place.Line, whole.Payload, err)
		}
	}
}
