package main

import (
	"fmt"
	"strings"
)

// flowSpec is a spec of n flow points. They have no comments, because those appear in the generated code.
func flowSpec(n int) string {
	var b strings.Builder
	b.WriteString(`package big

import (
	"encoding/json"

	"github.com/hookgen/hookgen/spec"
)

// Points are many.
//
` + "//" + `hookgen:points
type Points interface {
`)
	for i := range n {
		fmt.Fprintf(&b, "\tBeforeTool%d(Call) (spec.Replace, SkipTool, EndTurn, spec.FailClosed)\n", i+1)
	}
	b.WriteString(`}

// A Call is a call of a tool.
type Call struct {
	ID, Name string
	Args     json.RawMessage
	Step     int
}

// SkipTool answers instead of the tool.
type SkipTool struct{ Result, Reason string }

// EndTurn ends the turn.
type EndTurn struct{ Reply, Reason string }
`)
	return b.String()
}

// interfaces returns n interfaces for mock generators.
func interfaces(n int) string {
	var b strings.Builder
	b.WriteString("package big\n\nimport \"context\"\n\n// A Call is a call of a tool.\n" +
		"type Call struct{ ID, Name string }\n")
	for i := range n {
		fmt.Fprintf(&b,
			"\n// Tool%d is called before a tool.\ntype Tool%d interface {\n\tBefore(ctx context.Context, call Call) (Call, "+
				"error)\n}\n", i+1, i+1)
	}
	return b.String()
}

// enums returns n types for stringer.
func enums(n int) string {
	var b strings.Builder
	b.WriteString("package big\n")
	for i := range n {
		fmt.Fprintf(&b, "\n// Kind%d is a kind.\ntype Kind%d int\n\nconst (\n\tA%d Kind%d = iota\n\tB%d\n\tC%d\n)\n", i+1,
			i+1, i+1, i+1, i+1, i+1)
	}
	return b.String()
}
