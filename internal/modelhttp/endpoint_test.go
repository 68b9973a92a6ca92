package modelhttp

import (
	"strings"
	"testing"
)

func TestEndpointsOfAnAddress(t *testing.T) {
	const preset = "https://api.example.com/v1"
	for base, want := range map[string]string{
		"":                              "https://api.example.com/v1/chat",
		"http://localhost:1/v2/":        "http://localhost:1/v2/chat",
		"https://example.com/d?version": "https://example.com/d/chat?version",
		"localhost:80":                  "",
		"ftp://example.com":             "",
		"http://a b?key=secret":         "",
		"/v1":                           "",
	} {
		t.Run(base, func(t *testing.T) {
			got, err := Endpoint(base, preset, "chat")
			switch {
			case want == "" && (err == nil || strings.Contains(err.Error(), "secret")):
				t.Errorf("got %v, %v", got, err)
			case want != "" && (err != nil || got.String() != want):
				t.Errorf("got %v, %v, want %s", got, err, want)
			}
		})
	}
}
