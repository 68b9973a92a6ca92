// Package model plays random programs of registrations and fires against a plain model of what they should do: layers,
// priorities, anchors, bundles, removal, time-outs, failures of every kind, observers in the foreground and the
// background, tracers, and hooks that change the registry or fire again while they run, at a point for every law. A
// program that goes wrong is shrunk and printed as Go code, ready to be pasted into a test.
//
// The model is a list of what stands registered, kept for each moment, and a plain function that says what a fire comes
// to with what stood at one moment. On one goroutine a fire must come to exactly that of the moment at which it began;
// on several, to that of some moment between its begin and its first call: nothing torn, nothing lost. Changes wait for
// each other, so that each is compared with its model, while fires run beside them; changes from several goroutines
// at once are for the soak.
//
//	go test ./tests/model                                         ten thousand programs
//	go test ./tests/model -timeout 0 -programs 1000000 -report    more, and docs/figures/model.json
package model
