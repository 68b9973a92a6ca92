//go:build !race

package tests

// raceEnabled tells whether the race detector is on.
const raceEnabled = false
