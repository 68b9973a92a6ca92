// Package kit holds what every hook of builtin needs: checking a configuration, looking at a run, reporting errors of
// observers, and noticing each fire once.
package kit
