package gen

import (
	"fmt"
	"strings"
	"testing"
)

// Each law runs with a key: the generated code compiles, and has one option per key.
func TestKeysOfEveryLawCompile(t *testing.T) {
	laws := []string{
		"", "(spec.Replace, spec.FailOpen)", "(spec.Replace, Stop, spec.FailClosed)", "(spec.Edit[string], spec.FailOpen)",
		"(spec.Vote, Stop, Leave, spec.Collect[int], spec.FailOpen)", "(spec.Vote, Stop, spec.FailClosed)",
		"spec.Collect[int]", "(spec.Collect[int], spec.FailClosed)", "spec.Check", "spec.Around[int]",
		"(spec.Replace, Stop, spec.Collect[int], spec.FailOpen)",
	}
	var methods strings.Builder
	for i, law := range laws {
		fmt.Fprintf(&methods, "\t//hookgen:key Tool Name\n\tOn%d(Call) %s\n", i, law)
	}
	for i, law := range []string{"", "(spec.Replace, spec.FailOpen)", "spec.Around[int]"} {
		fmt.Fprintf(&methods, "\t//hookgen:key Tool Name\n\tTo%d(*Call) %s\n", i, law)
	}
	methods.WriteString("\t//hookgen:key Place In.Box\n\tDeep(*Letter) (spec.Edit[Where], spec.FailOpen)\n" +
		"\t//hookgen:key Second Seconds time.Duration\n\tAfter(Wait) (spec.Replace, spec.FailOpen)\n")
	spec := strings.Replace(specOf(methods.String(), "type Call struct{ Name string }\n\n"+
		"type Letter struct{ In Where }\n\n"+
		"type Where struct{ Box [2]Number }\n\ntype Number uint8\n\ntype Wait struct{ Seconds time.Duration }\n\n"+
		"type Stop struct{}\n\ntype Leave struct{}"), "import ", "import \"time\"\nimport ", 1)
	spec = strings.Replace(spec, "Deep(*Letter)", "Deep(Letter)", 1)
	text := emitted(t, spec, Output{Package: "p"})
	typeCheck(t, spec, text)
	for _, want := range []string{"func ForTool(keys ...string) hookkit.KeyOption",
		"func ForPlace(keys ...[2]Number) hookkit", "func ForSecond(keys ...time.Duration) hookkit"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %s", want)
		}
	}
}
