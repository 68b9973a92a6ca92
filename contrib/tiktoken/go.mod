module github.com/hookgen/hookgen/contrib/tiktoken

go 1.26.0

require (
	github.com/hookgen/hookgen v0.0.0
	github.com/tiktoken-go/tokenizer v0.7.0
)

require (
	github.com/dlclark/regexp2 v1.11.5 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
)

// Because this module lies in the other's tree. It has no effect on programs that use it.
replace github.com/hookgen/hookgen => ../..
