package testrun

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadGoTestOutput(t *testing.T) {
	got, err := Read(strings.NewReader(`{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"    a_test.go:3: [rapid] OK, passed 100 tests (877ms)\n"}
{"Action":"attr","Test":"TestA","Key":"tried","Value":"7"}
{"Action":"pass","Test":"TestA","Elapsed":1.5}
{"Action":"pass","Test":"TestB/one","Elapsed":1}
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
	want := map[string]*Outcome{
		"TestA": {Action: "pass", Drawn: 100, Attrs: map[string]string{"tried": "7"}, Time: 1500 * time.Millisecond},
		"TestB": {Action: "skip", Listed: 1, Attrs: none},
		"TestC": {Action: "pass", Listed: 1, Attrs: none},
		"TestD": {Action: "fail", Listed: 1, Attrs: none},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestOutputThatIsNotJSONIsError(t *testing.T) {
	if _, err := Read(strings.NewReader("FAIL")); err == nil {
		t.Error("no error")
	}
}
