module example.com/quickstart

go 1.26.0

tool github.com/hookgen/hookgen/cmd/hookgen

require github.com/hookgen/hookgen v0.0.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/expr-lang/expr v1.17.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
)

// Because this module lies in the other's tree. Yours needs no such line.
replace github.com/hookgen/hookgen => ../..
