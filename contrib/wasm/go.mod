module github.com/hookgen/hookgen/contrib/wasm

go 1.26.0

require (
	github.com/hookgen/hookgen v0.0.0
	github.com/tetratelabs/wazero v1.12.0
)

require (
	golang.org/x/sys v0.49.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

// Because this module lies in the other's tree. Programs that use it leave this line out.
replace github.com/hookgen/hookgen => ../..
