//go:build !race

// Package race reports whether the race detector is on. Under the detector, allocations differ and programs run
// about ten times slower. Tests therefore skip allocation checks and use fewer iterations.
package race

// Enabled reports whether the program was built with -race.
const Enabled = false
