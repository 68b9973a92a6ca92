module github.com/hookgen/hookgen/contrib/anthropic

go 1.26.0

require (
	github.com/hookgen/hookgen v0.0.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
)

// Because this module lies in the other's tree. It has no effect on programs that use the model.
replace github.com/hookgen/hookgen => ../..
