package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestHooksFieldsHaveCommentAndLaw(t *testing.T) {
	for law, want := range map[string]string{
		"":                  "Every hook runs. None can change or stop anything.",
		"spec.Reverse":      "The order is reversed",
		"spec.Check":        "The first error ends the fire",
		"spec.Collect[int]": "Every hook contributes values",
		"spec.Around[int]":  "Hooks wrap an act",
		"(spec.Replace, spec.FailOpen)": "Each may replace the payload for the next hooks and the program. " +
			"A hook's error, panic or timeout is reported",
		"(spec.Edit[Text], spec.FailOpen)": "Each may edit the payload's Body, and nothing else of it",
		"(spec.Replace, spec.Edit[Text], Stop, Skip, spec.Collect[int], spec.FailClosed)": "Each may replace the payload, " +
			"or edit its Body, for the next hooks and the program. The first Stop or Skip ends the fire. " +
			"Each may also contribute values, which the program gets in firing order. A hook's error, panic or timeout " +
			"ends the fire, and the program must refuse the act.",
		"(spec.Vote, Stop, Skip, spec.FailOpen)": "vote for Stop or Skip. Stop is the strongest",
	} {
		t.Run(law, func(t *testing.T) {
			out := emitted(t, specOf("// On fires.\n//\n// Deprecated: use To.\n//\n// It has a reason.\nOn(Item) "+law+
				"\n\n// Fires, too.\nTo(int) (Stop, Skip, spec.FailOpen)\nBare(int)",
				"type Text string\ntype Item struct{ Body Text }\ntype Stop struct{}\ntype Skip struct{}"), Output{Package: "p"})
			doc := fieldDocs(t, out)
			flat := strings.Join(strings.Fields(doc["On"]), " ")
			if !strings.HasPrefix(flat, "On fires. It has a reason.") || !strings.Contains(flat, want) ||
				!strings.HasSuffix(doc["On"], "\n\nDeprecated: use To.\n") {
				t.Errorf("field On has the comment\n%s\nwhich lacks %q", doc["On"], want)
			}
			if !strings.HasPrefix(doc["To"], "Fires, too.\n\nHooks run in order.") ||
				!strings.HasPrefix(doc["Bare"], "Every hook runs.") {
				t.Errorf("fields To and Bare have the comments\n%s\n%s", doc["To"], doc["Bare"])
			}
		})
	}
}

// fieldDocs returns the comments of the fields of Hooks.
func fieldDocs(t *testing.T, text string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok && s.Name.Name == "Hooks" {
			for _, f := range s.Type.(*ast.StructType).Fields.List {
				docs[f.Names[0].Name] = f.Doc.Text()
			}
		}
		return true
	})
	return docs
}
