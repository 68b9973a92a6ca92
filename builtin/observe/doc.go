// Package observe reports runs while they happen, as costs and streams of events.
//
// Its hooks decide nothing, except that [EventBridge] passes on vetoes of its bus. [Stream] delivers in the background,
// so a slow receiver does not delay a run.
//
// Counts, durations and lists of runs are views of package record, and spans are made by module contrib/otel. The
// package imports packages redact, limit and window, and internal packages.
//
// Start with [Stream] or [Cost].
package observe
