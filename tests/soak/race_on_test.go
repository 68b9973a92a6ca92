//go:build race

package soak

// defaultFires is what a run under the race detector makes.
const defaultFires = 400_000
