package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/summary"
)

// small has a group, a parent, a vote and an exit.
const small = `package small

import (
	"example.com/base"
	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	OnStart(<-chan string)
	base.Points
	Middle
	// Deprecated: use OnStart.
	OnEnd(m int) spec.Collect[string]
}

type Middle interface {
	OnA(int) (spec.Vote, Deny, Allow, spec.FailOpen)
	Inner
}

type Inner interface {
	OnB(int) (spec.Replace, Deny, spec.FailClosed)
}

type Deny struct{}
type Allow struct{}
`

func summarize(t *testing.T, text string) *summary.Spec {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spec.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, found := gen.Read(dir)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return summary.Of(spec, "")
}

func TestMermaidShowsOrderLawsAndExits(t *testing.T) {
	got, _, _ := strings.Cut(mermaid(summarize(t, small)), "    classDef")
	const want = `flowchart TD
    accTitle: small: 4 points, in the order of the spec
    p1["OnStart(#60;-chan string)<br/>observe"]:::observe
    p2[["base.Points<br/>example.com/base"]]:::parent
    subgraph g1["Middle"]
        p3["OnA(int)<br/>vote, fails open"]:::vote
        p3 -. 1 .-> p3x1(["Deny"]):::exit
        p3 -. 2 .-> p3x2(["Allow"]):::exit
        subgraph g2["Inner"]
            p4["OnB(int)<br/>flow: replace, fails closed"]:::flow
            p4 -.-> p4x1(["Deny"]):::exit
        end
    end
    p5["OnEnd(int)<br/>collect string, fails open, deprecated"]:::collect
    p1 --> p2 --> p3 --> p4 --> p5
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}
