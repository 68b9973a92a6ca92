// Package soak fires the points of tests/fixture for a long time, from as many goroutines as there are processors,
// while others add and remove hooks, make layers, attach tracers and observers. Each fire checks what it sees:
//
//   - hooks are added in pairs by Use, so a fire must run both of a pair or none (a snapshot);
//   - hooks run in the order of their layers and priorities, the payload is the fold of what they made of it, and
//     a hook that leaves or fails ends the fire where its law says so;
//   - a tracer is told of every hook of a fire and of the fire itself, or of nothing;
//   - observers that stand the whole time are told of every fire, once.
//
// Between its rounds the run comes to rest: what was added is removed, no goroutine is left, and the heap is measured.
//
//	go test ./tests/stress/soak                                          a short run
//	go test ./tests/stress/soak -fires 100000000 -timeout 0 -report      the whole, with a report in docs/figures
package soak
