package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesAroundAValueMakeItSecret(t *testing.T) {
	masks(t,
		"GET /cb?code=«hunter2abc» HTTP/1.1", "GET /cb?a=1&sig=«hunter2abc»", "GET /cb?page=hunter2abc",
		"GET code=hunter2abc",
		`{"name":"PASSWORD"} {"value":"«hunter2»"}`, `{"name":"USER"} {"value":"hunter2"}`,
		`{"type":"password"} {"value":"hunter2"}`, `{"type":"password","value":"«hunter2»"}`,
	)
}

func TestCardsWithShortLastGroupAreRedacted(t *testing.T) {
	for text, want := range map[string]string{
		"pay 6222 0202 0001 2345 670 now": "pay [REDACTED] now",
		"pay 622 0202 0001 2345 6706 now": "pay 622 0202 0001 2345 6706 now",
	} {
		if got := unkinded(new(Redactor).Text(text)); got != want {
			t.Errorf("got %q", got)
		}
	}
}

func TestListsWithObjectsKeepTheirShape(t *testing.T) {
	r := new(Redactor)
	list := []any{"hunter2", map[string]any{"n": "x"}}
	given := map[string]any{"password": list, "token": []any{"hunter2"}}
	got := r.Value(given, Shape{Text: r.Text, Values: 100, Levels: 10})
	want := map[string]any{"password": []any{Redacted, map[string]any{"n": Redacted}}, "token": []any{Redacted}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
