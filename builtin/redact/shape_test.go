package redact

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestInvalidJSONIsRedactedAsText(t *testing.T) {
	call := agent.ToolCallRequest{Name: "t", Args: json.RawMessage(`password=hunter2 {`)}
	m := new(Redactor).Message(agent.Message{ToolCalls: []agent.ToolCallRequest{call}})
	if got := string(m.ToolCalls[0].Args); got != "password=[REDACTED] {" {
		t.Errorf("got %q", got)
	}
}

func TestValuesOfEmbeddedStructsAreFields(t *testing.T) {
	type Inner struct {
		User     string
		Password string `json:"password"`
	}
	type outer struct {
		Inner
		N int `json:"n,omitempty"`
	}
	r := new(Redactor)
	got := r.Value(outer{Inner{"bob", "hunter2"}, 0}, Shape{Text: r.Text, Values: 100, Levels: 10})
	want := map[string]any{"User": "bob", "password": "[REDACTED]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPatternsApplyToCutTexts(t *testing.T) {
	r := &Redactor{Patterns: []*regexp.Regexp{regexp.MustCompile(`case-[0-9]+`)}}
	if got := unkinded(r.CutText("see case-123 and more", 100)); got != "see [REDACTED] and more" {
		t.Errorf("cut: %q", got)
	}
}
