package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestAnEndlessSchemaIsRefused(t *testing.T) {
	chain := `{}`
	for range maxSchemas + 1 {
		chain = `{"allOf":[` + chain + `]}`
	}
	thrice := `{"$ref":"#/$defs/10","$defs":{"0":{}`
	for i := range 10 {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/%d"}`, i)
		thrice += fmt.Sprintf(`,"%d":{"allOf":[%s,%s,%s]}`, i+1, ref, ref, ref)
	}
	for text, want := range map[string]string{
		thrice + `}}`:  "32768 in all",
		`{"$ref":"#"}`: "refers to itself",
		`{"type":"object","allOf":[{"$ref":"#"}]}`: "refers to itself",
		`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"anyOf":[{},{"$ref":"#/$defs/c%20d"}]},` +
			`"c d":{"not":{"$ref":"#/$defs/a~1b"}}}}`: "refers to itself",
		`{"$ref":"#a","$defs":{"x":{"$anchor":"a","if":{"$ref":"#a"}}}}`: "refers to itself",
		`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`:                      "refers to itself",
		`{"$id":"https://example.org/a","$ref":"b",` +
			`"$defs":{"b":{"$id":"b","dependentSchemas":{"k":{"$ref":"a"}}}}}`: "refers to itself",
		`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"k":{"$ref":"#"}}}`: "refers to itself",
		`{"properties":{"x":{"$ref":"#/properties/x"}}}`:                                          "refers to itself",
		chain: "more than 32 nested schemas",
		strings.Repeat(`{"properties":`, maxNesting+1) + `{}` + strings.Repeat(`}`, maxNesting+1): "more than 1000 levels",

		`{"type":"object","properties":{"left":{"$ref":"#"},"list":{"type":"array",` +
			`"items":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}}`: "",
		`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","additionalProperties":{"$ref":"#/$defs/node"}}}}`: "",
		`{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"required":["x"]}}}`:                    "",
		`{"$id":"https://example.org/a","allOf":[{"$ref":"b"},{"$ref":"c#/not"}],"$defs":{"b":{"$id":"b",` +
			`"allOf":[{"$ref":"c"}]},"c":{"$id":"c","not":{"$anchor":"x","required":["y"]}}}}`: "",
		`{"$dynamicAnchor":"n","properties":{"next":{"$dynamicRef":"#n"}}}`: "",
	} {
		resolved, err := resolve(agent.ToolSchema{Name: "t", Parameters: json.RawMessage(text)})
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.200s is a tool's schema (%v), want %q", text, err, want)
		case want == "" && err != nil:
			t.Errorf("%s is refused: %v", text, err)
		case want == "":
			(&entry{args: resolved}).fits(json.RawMessage(`{"left":{"left":{}},"next":{"next":{}},"x":{}}`), 0)
		}
	}
}

func TestDeeplyNestedArgumentsAreRefused(t *testing.T) {
	resolved, err := resolve(agent.ToolSchema{Name: "t", Parameters: json.RawMessage(`{"properties":{"a":{"$ref":"#"}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	e := &entry{args: resolved}
	for levels, want := range map[int]bool{1: true, maxNesting: true, maxNesting + 1: false, 9_000: false} {
		args := strings.Repeat(`{"a":`, levels) + `"{\"[[["` + strings.Repeat(`}`, levels)
		if got := e.fits(json.RawMessage(args), 0); (got == nil) != want {
			t.Errorf("%d levels: %v", levels, got)
		}
	}
}
