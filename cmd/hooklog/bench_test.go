package main

import (
	"io"
	"testing"
)

// Each operation reads a record of -events events, so this measures a million:
//
//	go test ./cmd/hooklog -run '^$' -bench . -benchtime 1x -events 1000000
func BenchmarkCommands(b *testing.B) {
	path := recordOf(b, *events)
	for _, args := range [][]string{{"show", path}, {"stats", path}, {"diff", path, path}} {
		b.Run(args[0], func(b *testing.B) {
			for range b.N {
				i := &invocation{stdout: io.Discard, stderr: io.Discard}
				if code := i.run(b.Context(), args); code != fine {
					b.Fatalf("the exit code is %d", code)
				}
			}
			b.ReportMetric(float64(*events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
