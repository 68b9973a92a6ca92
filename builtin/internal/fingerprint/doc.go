// Package fingerprint compares tool calls and results by value, for example to detect repeated calls whose arguments
// have another order.
//
// Start with [Call].
package fingerprint
