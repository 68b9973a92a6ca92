// Package memorytest has the conformance suite for implementations of memory.Store.
//
// Start with [Check]. The suites for other stores are in package looptest.
package memorytest
