module github.com/hookgen/hookgen/examples/agent

go 1.26.0

require github.com/hookgen/hookgen v0.0.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
)

// Because this module lies in the other's tree.
replace (
	github.com/hookgen/hookgen => ../..
	github.com/hookgen/hookgen/contrib/anthropic => ../../contrib/anthropic
	github.com/hookgen/hookgen/contrib/mcp => ../../contrib/mcp
	github.com/hookgen/hookgen/contrib/openai => ../../contrib/openai
	github.com/hookgen/hookgen/contrib/otel => ../../contrib/otel
	github.com/hookgen/hookgen/contrib/sqlite => ../../contrib/sqlite
)
