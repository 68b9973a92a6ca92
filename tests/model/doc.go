// Package model is the reference model of registrations and fires. It covers layers, priorities, anchors, bundles,
// removal, timeouts, failures of every kind, observers in the foreground and the background, tracers and failure
// handlers. Hooks may also change the registry or fire again while they run. The package plays random programs at
// any point of tests/fixture, and compares the results of real Hooks with those of the model. The property tests
// in tests/runtime draw programs of a certain [Shape]; the test of this package draws programs of [Everything].
//
// The model is a list of registrations, with a snapshot after each change, and a plain function from a snapshot to
// the result of a fire. On one goroutine a fire must have the result of the snapshot at its start. On several
// goroutines it must have the result of some snapshot between its start and its first call. Changes are
// serialized, so that each one is compared with the model, while fires run in parallel. Package soak makes changes
// in parallel too.
//
// A failing program is shrunk and printed as Go code, ready to be pasted into a test.
//
//	go test ./tests/model                                         ten thousand programs
//	go test ./tests/model -timeout 0 -programs 1000000 -report    more, and docs/evidence/figures/model.json
package model
