module example.com/gateway

go 1.26.0

tool github.com/hookgen/hookgen/cmd/hookgen

require (
	github.com/hookgen/hookgen v0.0.0
	github.com/hookgen/hookgen/contrib/wasm v0.0.0
	github.com/tetratelabs/wazero v1.12.0
)

require (
	github.com/dave/jennifer v1.7.1 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

// Because this module lies in the other's tree. Yours needs no such lines.
replace github.com/hookgen/hookgen => ../..

replace github.com/hookgen/hookgen/contrib/wasm => ../../contrib/wasm
