// Package soak fires the points of tests/fixture for a long time, from as many goroutines as there are processors.
// Meanwhile other goroutines add and remove hooks, layers, tracers and observers. Each fire checks the following:
//
//   - Use adds hooks in pairs, so a fire must run both hooks of a pair or none (a snapshot);
//   - hooks run in the order of their layers and priorities, the payload is the fold of their replacements, and a
//     hook that exits or fails ends the fire if its law says so;
//   - a tracer is notified of every hook of a fire and of the fire itself, or of nothing;
//   - permanent observers are notified of every fire, once.
//
// Between rounds, everything that was added is removed, no goroutine may be left, and the heap is measured.
//
//	go test ./tests/stress/soak                                          a short run
//	go test ./tests/stress/soak -fires 100000000 -timeout 0 -report      the whole, with a report
package soak
