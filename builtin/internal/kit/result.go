package kit

import (
	"math"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// Succeeded reports whether a tool ran without an error. Calls that were refused, skipped, not run or handed off did
// not succeed. A result without a status, for example of a test, succeeded if Err is empty.
func Succeeded(r agent.ToolCallResult) bool {
	return r.Err == "" && (r.Status == agent.CallSucceeded || r.Status == "")
}

// Milliseconds returns a duration in milliseconds, rounded to microseconds.
func Milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// UnixSeconds returns the seconds since 1970, truncated to microseconds.
func UnixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// AfterHooks returns the result that a loop uses after the hooks of AfterTool changed before into after. Hooks may
// change only Output, Parts, Warnings, Err, Kind and NoRetry, and cannot turn a failure into a success.
func AfterHooks(before, after agent.ToolCallResult) agent.ToolCallResult {
	after.Call, after.Elapsed, after.Attempts, after.Status = before.Call, before.Elapsed, before.Attempts, before.Status
	after.By, after.Reason = before.By, before.Reason
	switch {
	case after.Err == "" && before.Err != "":
		after.Err, after.Kind = before.Err, before.Kind
	case after.Err != "" && before.Err == "":
		after.Status = agent.CallFailed
	}
	return after
}
