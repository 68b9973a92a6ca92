package hooklog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// Lists that keep their beginning while the end gets shorter and longer count as many bytes as they have.
func TestForgottenListsGiveTheirBytesBack(t *testing.T) {
	var writer, reader lists
	for n := range 200 {
		var elements []string
		for i := range 20 + 7*n%11 {
			what := "same"
			if i >= 15 {
				what = fmt.Sprintf("step %d %0*d", n, 100*(n%5), 0)
			}
			elements = append(elements, fmt.Sprintf(`{"n":%d,"text":"%s%0100d"}`, i, what, i))
		}
		e := Event{Point: "Ask", Run: wire.RunInfo{ID: "r"},
			Payload: json.RawMessage(`{"messages":[` + strings.Join(elements, ",") + `]}`)}
		sums := writer.cut(&e, false)
		if n > 0 && len(e.Omitted) != 1 {
			t.Fatalf("event %d omits %v", n, e.Omitted)
		}
		writer.keep(&e, sums)
		reader.keep(&e, nil)
		for name, l := range map[string]*lists{"writer": &writer, "reader": &reader} {
			want := 0
			for _, k := range l.last {
				want += k.size()
			}
			if l.bytes != want || len(l.last) != 1 {
				t.Fatalf("event %d: the %s counts %d bytes of %d lists, want %d", n, name, l.bytes, len(l.last), want)
			}
		}
	}
}
