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

func TestFiguresAreReplaced(t *testing.T) {
	reader, decoder, gone := target{"gen", "FuzzRead"}, target{"loop", "FuzzArguments"}, target{"old", "FuzzGone"}
	all := []target{reader, decoder}
	var known []figures.Figure
	for _, run := range []struct {
		of  target
		ran result
	}{
		{reader, result{Elapsed: 40 * time.Minute, Executions: 100, Inputs: 7}},
		{gone, result{}},
		{decoder, result{Elapsed: 2 * time.Minute, Executions: 10, Inputs: 3, Failed: []string{"abc", "def"}}},
		{reader, result{Elapsed: 20 * time.Minute, Executions: 1, Inputs: 9}},
	} {
		known = replaced(known, all, run.ran.figure(run.of))
	}
	want := []figures.Figure{
		{Of: "gen FuzzRead", Value: "20m0s, 1 executions, 9 inputs", Bound: "no input fails", Holds: figures.Yes},
		{
			Of: "loop FuzzArguments", Value: "2m0s, 10 executions, 3 inputs", Bound: "no input fails", Holds: figures.No,
			Note: "fail: abc def",
		},
	}
	if !slices.Equal(known, want) {
		t.Errorf("the figures are %+v", known)
	}
}
