// Package observe reports the progress of runs while they happen, as spans, metrics, costs and streams of events.
//
// Its hooks decide nothing, except that [EventBridge] passes on vetoes of its bus. [Stream] and [Tracing] deliver in
// the background, so a slow receiver does not delay a run.
//
// Records for later belong in package record. The package imports packages redact and limit, and internal packages.
//
// Start with [Metrics], [Tracing] or [Stream].
package observe
