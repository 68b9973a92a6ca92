// Package observe reports what a run does while it runs: spans, metrics, cost, and streams of events.
//
// Its hooks decide nothing, except that an [EventBridge] carries vetoes of its bus back. A slow or failing receiver
// never delays a run. Records for later are in package record. The package imports no library.
//
// Start with [Metrics], [Tracing] or [Stream].
package observe
