package gen_test

import (
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/page"
	"github.com/hookgen/hookgen/gen/summary"
	"pgregory.net/rapid"
)

// The example hooks on the page of every accepted spec type-check against the generated code.
func TestExamplesOfDrawnSpecsCompile(t *testing.T) {
	universe := newUniverse(t)
	drawn, checked := 0, map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		drawn++
		g := drawSpec(t, false)
		src := g.sources("p", true)
		if _, err := universe.check("user/p", nil, src...); err != nil {
			t.Skip("refused by the compiler")
		}
		for _, own := range []bool{false, true} {
			text := generated(t, src, own)
			if text == nil {
				continue
			}
			checked[own]++
			checkExamples(t, universe, src, string(text), own)
		}
	})
	t.Logf("of %d specs, %d were checked in the spec's package, %d in a package of its own", drawn, checked[false],
		checked[true])
	if !t.Failed() && (checked[false] < drawn/3 || checked[true] < drawn/3) {
		t.Errorf("too few specs are accepted to say much")
	}
}

func checkExamples(t *rapid.T, u *universe, src []string, generated string, own bool) {
	to := page.Generated{Package: "p", Path: "user/p"}
	known := map[string]*types.Package{}
	load := func(path string, sources ...string) {
		p, err := u.check(path, known, sources...)
		if err != nil {
			t.Fatalf("%v\n%s", err, sources[len(sources)-1])
		}
		known[path] = p
	}
	if own {
		to = page.Generated{Package: "out", Path: "user/out"}
		load("user/p", src...)
		load("user/out", generated)
	} else {
		src = append(src, generated)
		load("user/p", src...)
	}
	text := pageOf(t, src, to)
	_, rest, _ := strings.Cut(text, "which begins with:\n\n")
	head, rest, _ := strings.Cut(rest, "## Points\n")
	example := strings.ReplaceAll(strings.TrimPrefix(head, "    "), "\n    ", "\n")
	for _, block := range strings.Split(rest, "\n```go\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		example += "\n" + code
	}
	if strings.HasPrefix(example, "package "+to.Package+"\n") {
		load(to.Path, append(src, example)...)
		return
	}
	load("user/hooks", example)
}

// pageOf returns the page of a spec.
func pageOf(t *rapid.T, sources []string, to page.Generated) string {
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for i, name := range []string{"spec.go", "beside.go", "hooks_gen.go"}[:len(sources)] {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(sources[i]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, found := gen.Read(dir)
	if len(found) > 0 {
		t.Fatal(found)
	}
	text, err := page.Write(summary.Of(s, "user/p"), to)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
