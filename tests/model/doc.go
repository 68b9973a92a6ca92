// Package model is the reference model of what registrations and fires do: layers, priorities, anchors, bundles, removal,
// timeouts, failures of every kind, observers in the foreground and the background, tracers, failure handlers, and hooks that
// change the registry or fire again while they run. It plays random programs at any point of tests/fixture, and compares
// what real Hooks do with what the model says. The property tests of tests draw programs of a certain [Shape]; the test of
// this package draws programs of [Everything].
//
// The model is a list of what is registered, kept for each moment, and a plain function from the registrations of one moment
// to the result of a fire. On one goroutine a fire must have the result of the moment at which it began. On several, it must
// have that of some moment between its begin and its first call: nothing torn, nothing lost. Changes wait for each other, so
// that each is compared with its model, while fires run at the same time; changes from several goroutines at once are for
// the soak.
//
// A program that goes wrong is shrunk and printed as Go code, ready to be pasted into a test.
//
//	go test ./tests/model                                         ten thousand programs
//	go test ./tests/model -timeout 0 -programs 1000000 -report    more, and docs/figures/model.json
package model
