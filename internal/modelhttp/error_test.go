package modelhttp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"-5":                            0,
		"7":                             7 * time.Second,
		"0.5":                           500 * time.Millisecond,
		"NaN":                           0,
		"Inf":                           24 * time.Hour,
		"99999999999999999999":          24 * time.Hour,
		"soon":                          0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2026 03:00:00 GMT": 0,
		"Fri, 02 Jan 2099 03:00:00 GMT": 24 * time.Hour,
	} {
		t.Run(text, func(t *testing.T) {
			if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func FuzzReported(f *testing.F) {
	for _, seed := range []string{
		`{"error":{"message":"slow","type":"requests","code":429}}`, `[{"error":"x"}]`, `{"detail":"no"}`, `[[]]`, `{`,
	} {
		f.Add([]byte(seed))
	}
	c := &Call{API: "test", Header: http.Header{"X-Api-Key": {"verysecret"}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		kind, code, message := reported(body)
		for _, text := range []string{kind, code, message} {
			got := c.clean(text)
			if len(got) > maxMessage+3 || strings.ContainsAny(got, "\n\r\x1b") || strings.Contains(got, "verysecret") {
				t.Errorf("got %q", got)
			}
		}
	})
}

func TestTelemetryGetsTheStatus(t *testing.T) {
	var status interface{ HTTPStatusCode() int }
	if err := fmt.Errorf("model: %w", &Error{Status: 429}); !errors.As(err, &status) || status.HTTPStatusCode() != 429 {
		t.Errorf("the error %v has no status", err)
	}
}
