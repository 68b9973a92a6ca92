// Package runtime_test checks the behaviour of hooks in fires, at the points of package fixture. Each rule of
// package hookkit's documentation has a file with its name, for example order_test.go for rule 1. The file begins
// with the rule as a property: random programs of a certain [Shape], compared with a reference model. The cases
// below it cover situations that programs do not draw. Add a case to the file of its rule, with a t.Run for each
// point or variant.
//
// The reference model is in the files model_*_test.go. It covers layers, priorities, anchors, bundles, removal,
// timeouts, failures of every kind, observers in the foreground and the background, tracers and failure handlers.
// Hooks may also change the registry or fire again while they run. The model is a list of registrations, with a
// snapshot after each change, and a plain function from a snapshot to the result of a fire. On one goroutine a fire
// must have the result of the snapshot at its start. On several goroutines it must have the result of some snapshot
// between its start and its first call. Changes are serialized, so that each one is compared with the model, while
// fires run in parallel. Package soak makes changes in parallel too.
//
// A failing program is shrunk and printed as Go code, ready to be pasted into a test. The programs of [Everything]
// have all features:
//
//	go test ./tests/runtime -run Model                                         ten thousand programs
//	go test ./tests/runtime -run Model -timeout 0 -programs 1000000 -report    more, and figures/model.json
package runtime_test

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

// holdsAt plays random programs of a shape at each of the points, and compares every fire with the reference model.
func holdsAt(t *testing.T, ps []*points.Point, shape Shape) {
	for _, p := range ps {
		t.Run(p.Name, func(t *testing.T) {
			of := shape
			of.Points = []*points.Point{p}
			someChecks(t, func(rt *rapid.T) { Check(t, rt, of.Draw(rt)) })
		})
	}
}

// someChecks checks a property of one point with few programs, because there are many points.
func someChecks(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if usual := checks.Value.String(); usual == checks.DefValue { // the default
		if err := checks.Value.Set("15"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Value.Set(usual) }()
	}
	rapid.Check(t, property)
}

// newRun returns a run for one fire.
func newRun() *fixture.Run { return fixture.NewRun(&fixture.World{Name: "test"}) }

// names returns the names of the hooks in a listing.
func names(infos []hookkit.Info) []string {
	all := make([]string, len(infos))
	for i, info := range infos {
		all[i] = info.Name
	}
	return all
}

// panicOf calls f and returns the text of its panic, or "".
func panicOf(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// captureLog makes the default logger write into the buffer until the test ends.
func captureLog(t *testing.T) *bytes.Buffer {
	old := slog.Default()
	t.Cleanup(func() { slog.SetDefault(old) })
	var b bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	return &b
}
