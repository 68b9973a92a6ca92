package gen_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/page"
	"github.com/hookgen/hookgen/gen/summary"
)

// methodLine matches the line of a page with the method of the hooks of a point.
var methodLine = regexp.MustCompile("(?m)^\\*\\*A hook has the method:\\*\\* `((\\w+)\\(.*)`$")

// The method that the page of a spec has for a point is that of the generated interface. The spec of tests/fixture has
// every law.
func TestMethodsOfPagesAreThoseOfHooks(t *testing.T) {
	spec, found := gen.Read(filepath.Join("..", "tests", "fixture"))
	if len(found) > 0 {
		t.Fatal(found)
	}
	methods := methodLine.FindAllStringSubmatch(string(page.Write(summary.Of(spec, "user/p"), "user/p")), -1)
	if len(methods) != len(spec.Points) {
		t.Errorf("%d points, %d methods", len(spec.Points), len(methods))
	}
	var source strings.Builder
	source.WriteString("package p\n\nimport (\n\"context\"\n\"time\"\n\n\"github.com/hookgen/hookgen/hookkit\"\n" +
		". \"github.com/hookgen/hookgen/tests/fixture\"\n)\n\nvar _ hookkit.By\nvar _ time.Time\n")
	for i, m := range methods {
		payload := spec.Points[i].Payload.String()
		source.WriteString("\nvar _ " + m[2] + "[" + payload + "] = interface{ " + m[1] + " }(nil)\n")
	}
	if _, err := newUniverse(t).check("user/p", nil, source.String()); err != nil {
		t.Errorf("%v\n%s", err, source.String())
	}
}
