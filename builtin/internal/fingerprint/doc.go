// Package fingerprint compares tool calls and results by value, for example to detect a model that repeats a call with
// the keys of its arguments in another order.
//
// Start with [Call].
package fingerprint
