// Package observe reports costs, requests and what breaks the caching of prompts while runs happen. Its hooks decide
// nothing, except that [EventBridge] passes on vetoes of its bus.
//
// The events of a run are those of Request.Events of package loop. Counts, durations and lists of runs are views of
// package record, and spans are made by module contrib/otel. The package imports packages redact, limit and window, and
// internal packages.
//
// Start with [Cost].
package observe
