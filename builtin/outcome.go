package builtin

import (
	"math"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// succeeded reports whether a tool did what it was called for. A call that was refused, skipped, left unrun or
// handed over is no success, whatever the model is told. A result without a status, fired by hand, goes by its
// Err.
func succeeded(r agent.ToolCallResult) bool {
	return r.Err == "" && (r.Status == agent.CallSucceeded || r.Status == "")
}

// milliseconds is a duration in milliseconds, to the microsecond.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// seconds is a time in seconds since 1970, to the microsecond.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// resultLeft is what a loop makes of a result that the hooks of AfterTool left: only Output, Err, Kind and NoRetry
// are theirs to set, and a failure stays one.
func resultLeft(was, left agent.ToolCallResult) agent.ToolCallResult {
	left.Call, left.Elapsed, left.Attempts, left.Status = was.Call, was.Elapsed, was.Attempts, was.Status
	left.By, left.Reason = was.By, was.Reason
	switch {
	case left.Err == "" && was.Err != "":
		left.Err, left.Kind = was.Err, was.Kind
	case left.Err != "" && was.Err == "":
		left.Status = agent.CallFailed
	}
	return left
}

// durationOf is what milliseconds made a number of.
func durationOf(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
