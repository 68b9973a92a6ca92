module example.com/quickstart

go 1.26.0

tool github.com/hookgen/hookgen/cmd/hookgen

require github.com/hookgen/hookgen v0.0.0

require (
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

// Because this module lies in the other's tree. Yours needs no such line.
replace github.com/hookgen/hookgen => ../..
