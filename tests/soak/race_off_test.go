//go:build !race

package soak

// defaultFires is what a run makes that is given no number.
const defaultFires = 2_000_000
