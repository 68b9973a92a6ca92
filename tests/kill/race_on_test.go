//go:build race

package kill

// defaultKills is how often each writer is killed under the race detector.
const defaultKills = 5
