package eventlog_test

import (
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
)

func TestFieldsAreRead(t *testing.T) {
	payload := json.RawMessage(`{"To":"you","Size":12,"Header":{"Host":"example.com","Tags":["a"],"Nothing":null}}`)
	for text, want := range map[string]string{
		"P.To": "you", "P.Size": "12", "P.Header.Host": "example.com", "P.Header.Tags": `["a"]`, "P.Header.Nothing": "",
		"P.From": "", "P.To.Host": "", "P.Header.Host.Name": "", "P.to": "",
	} {
		t.Run(text, func(t *testing.T) {
			f, err := eventlog.ParseField(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Of(payload); f.Point != "P" || got != want {
				t.Errorf("the field of %s is %q, want %q", f.Point, got, want)
			}
		})
	}
	for _, text := range []string{"", "P", "P.", ".To", "P..To"} {
		if f, err := eventlog.ParseField(text); err == nil {
			t.Errorf("%q is the field %v", text, f)
		}
	}
}
