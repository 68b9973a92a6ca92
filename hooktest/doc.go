// Package hooktest is a test kit for the hooks of any spec. It needs nothing but the Points of generated Hooks, so that
// it works for your own points as well as for those of somebody else's program.
//
//   - [Check] runs the conformance suite on a hook. Use it in the test of every hook. It finds panics, payloads
//     that are changed in place, state shared between runs, goroutines left running, and data races.
//   - [Record] records every fire of some Hooks, with the hook that decided. Use it to test a program that fires
//     points: which points it fires, in which order, and the result of each.
//   - [Replay] fires a recorded run at hooks and compares the decisions. Use it to keep incidents as tests.
//   - [EveryPointFired] finds points that are declared and never fired. Use it once in the tests of such a program.
//
// Begin with the example of [Check]. To test hooks in the whole run of an agent, use package loop/looptest.
package hooktest
