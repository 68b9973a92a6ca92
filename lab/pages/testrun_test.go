package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadGoTestOutput(t *testing.T) {
	got, err := readEvents(strings.NewReader(`{"Action":"run","Test":"TestA"}
{"Action":"attr","Test":"TestA","Key":"tried","Value":"7"}
{"Action":"pass","Test":"TestA"}
{"Action":"pass","Test":"TestB/one"}
{"Action":"skip","Test":"TestB/two"}
{"Action":"pass","Test":"TestB"}
{"Action":"pass","Test":"TestC/one"}
{"Action":"pass","Test":"TestC"}
{"Action":"fail","Test":"TestD/one"}
{"Action":"pass","Test":"TestD/two"}
{"Action":"fail","Test":"TestD"}
{"Action":"pass"}
`))
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]string{}
	want := map[string]*outcome{
		"TestA": {Action: "pass", Attrs: map[string]string{"tried": "7"}},
		"TestB": {Action: "skip", Listed: 1, Attrs: none},
		"TestC": {Action: "pass", Listed: 1, Attrs: none},
		"TestD": {Action: "fail", Listed: 1, Attrs: none},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestOutputThatIsNotJSONIsError(t *testing.T) {
	if _, err := readEvents(strings.NewReader("FAIL")); err == nil {
		t.Error("no error")
	}
}

func TestOnlyPassedTestsAreEvidence(t *testing.T) {
	outcomes := map[string]*outcome{"TestA": {Action: "pass"}, "TestB": {Action: "skip"}, "TestC": {Action: "fail"}}
	for _, c := range []struct{ name, wrong string }{
		{"TestA", ""},
		{"TestB", "TestB has not passed"},
		{"TestC", "TestC has not passed"},
		{"TestD", "TestD has not passed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := passed(outcomes, "gen", []string{"TestA", c.name})
			if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("the error is %v, want %q", err, c.wrong)
			}
		})
	}
}
