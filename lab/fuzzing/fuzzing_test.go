package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/lab/figures"
)

func TestReadGoFuzzOutput(t *testing.T) {
	for _, c := range []struct {
		text string
		want result
	}{
		{"fuzz: elapsed: 0s, gathering baseline coverage: 0/134 completed\n" +
			"fuzz: elapsed: 3s, execs: 17476 (5823/sec), new interesting: 4 (total: 138)\n" +
			"fuzz: elapsed: 1m5s, execs: 37291 (9693/sec), new interesting: 15 (total: 149)\nPASS\n", result{
			Elapsed: 65 * time.Second, Executions: 37291, Inputs: 149,
		}},
		{"fuzz: elapsed: 6s, execs: 10 (1/sec), new interesting: 0 (total: 7)\nfuzz: elapsed: 7s, minimizing\n" +
			"--- FAIL: FuzzX (6.67s)\n    --- FAIL: FuzzX (0.00s)\n" +
			"        x_test.go:1: Failing input written to nowhere\n    \n" +
			"    Failing input written to testdata/fuzz/FuzzX/57a5eb8c398b4f96\n    To re-run:\n" +
			"    go test -run=FuzzX/57a5eb8c398b4f96\nFAIL\n",
			result{Elapsed: 6 * time.Second, Executions: 10, Inputs: 7, Failed: []string{"57a5eb8c398b4f96"}}},
		{"failure while testing seed corpus entry: FuzzX/seed#3\nfuzz: elapsed: 0s, gathering baseline coverage: 3/9 " +
			"completed\n", result{Failed: []string{"seed#3"}}},
		{"fuzz: elapsed: 10s, execs: 10 (1/sec), new interesting: 0 (total: 7)\n--- FAIL: FuzzX (10.01s)\n" +
			"    context deadline exceeded\nFAIL\n", result{Elapsed: 10 * time.Second, Executions: 10, Inputs: 7}},
		{"x_test.go:5: undefined: y\nFAIL\n", result{}},
	} {
		got, text := read(strings.NewReader(c.text))
		if text != c.text || got.Elapsed != c.want.Elapsed || got.Executions != c.want.Executions ||
			got.Inputs != c.want.Inputs || !slices.Equal(got.Failed, c.want.Failed) {
			t.Errorf("%s\nis read as %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestTargetsAreFound(t *testing.T) {
	all, err := find("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []target{
		{"gen", "FuzzRead"},
		{"builtin/permission", "FuzzParseRules"},
		{"spec/agentspec", "FuzzCallEncoding"},
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%v is not found among %v", want, all)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b target) int {
		return strings.Compare(a.Package+" "+a.Name, b.Package+" "+b.Name)
	}) {
		t.Errorf("%v are in no order", all)
	}
}

func TestRunsAreAdded(t *testing.T) {
	reader, decoder := target{"gen", "FuzzRead"}, target{"loop", "FuzzArguments"}
	var known []figures.Figure
	var err error
	for _, run := range []struct {
		of  target
		ran result
	}{
		{reader, result{Elapsed: 40 * time.Minute, Executions: 100, Inputs: 7}},
		{decoder, result{Elapsed: 2 * time.Minute, Executions: 10, Inputs: 3, Failed: []string{"abc"}}},
		{reader, result{Elapsed: 20 * time.Minute, Executions: 1, Inputs: 9}},
	} {
		if known, err = sum(known, run.of, run.ran); err != nil {
			t.Fatal(err)
		}
	}
	value := func(of string) (string, figures.Verdict) {
		at := slices.IndexFunc(known, func(f figures.Figure) bool { return f.Of == of })
		if at < 0 {
			t.Fatalf("there is no figure of %s in %+v", of, known)
		}
		return known[at].Value, known[at].Holds
	}
	for _, want := range []struct {
		of, value string
		holds     figures.Verdict
	}{
		{"gen FuzzRead", "1h0m0s, 101 executions, 9 inputs", figures.Yes},
		{"loop FuzzArguments", "2m0s, 10 executions, 3 inputs", figures.No},
	} {
		if got, holds := value(want.of); got != want.value || holds != want.holds {
			t.Errorf("%s is %s (%q), want %s (%q)", want.of, got, holds, want.value, want.holds)
		}
	}
	if known, err = sum(known, decoder, result{Elapsed: time.Hour, Executions: 1}); err != nil {
		t.Fatal(err)
	}
	last := known[len(known)-1]
	if last.Of != "loop FuzzArguments" || last.Holds != figures.Yes || !strings.HasSuffix(last.Note, "pass now: abc") {
		t.Errorf("a failure that is mended is %+v", last)
	}
	if len(known) != 2 {
		t.Errorf("%d figures", len(known))
	}
	for _, value := range []string{"soon, 1 executions, 2 inputs", "1s", "1s, many executions", ""} {
		if _, err := sum([]figures.Figure{{Of: "gen FuzzRead", Value: value}}, reader, result{}); err == nil {
			t.Errorf("%q is added to", value)
		}
	}
}
