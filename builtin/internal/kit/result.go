package kit

import (
	"math"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// Succeeded reports whether a tool did what it was called for. A call that was refused, skipped, left unrun or
// handed over is no success, whatever the model is told. A result without a status, fired by hand, goes by its
// Err.
func Succeeded(r agent.ToolCallResult) bool {
	return r.Err == "" && (r.Status == agent.CallSucceeded || r.Status == "")
}

// Milliseconds is a duration in milliseconds, to the microsecond.
func Milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// UnixSeconds is a time in seconds since 1970, to the microsecond.
func UnixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// AfterHooks is what a loop makes of a result that the hooks of AfterTool left: only Output, Err, Kind and NoRetry
// are theirs to set, and a failure stays one.
func AfterHooks(was, left agent.ToolCallResult) agent.ToolCallResult {
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

// Duration is what milliseconds made a number of.
func Duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
