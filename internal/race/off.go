//go:build !race

// Package race reports whether the race detector is on. Under the detector allocations differ and programs run some
// ten times slower, so tests skip the first and do less of the second.
package race

// Enabled reports whether the program was built with -race.
const Enabled = false
