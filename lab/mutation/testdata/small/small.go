// Package small is what the tool is tried on.
package small

// Sign is tested for all but 0.
func Sign(n int) int {
	if n < 0 {
		return -1
	}
	return 2 - 1
}

// Larger returns the same whichever of two equal numbers it takes.
func Larger(a, b int) int {
	if a > b {
		return a
	}
	return b
}

// Wait waits for ever if it does not count.
func Wait(n int) (waited int) {
	for waited < n {
		waited++
	}
	return waited
}

// Lonely is not tested.
func Lonely(ok bool) bool { return !ok }
