//go:build !race

package kill

// defaultKills is how often each writer is killed.
const defaultKills = 24
