// Package wasm runs hooks that are compiled to WebAssembly in this process, without trusting them.
//
// The hooks are those of any spec that is marked //hookgen:wire. The guest is a program with package guest:
//
//	func init() {
//		hooks := new(agent.Hooks)
//		hooks.Use(guard{})
//		guest.Serve(agent.Serve(hooks, nil))
//	}
//
//	func main() {}
//
// It is built with the Go command:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o guard.wasm ./guard
//
// The program that fires the points connects it like any other hook service:
//
//	caller, err := wasm.New(module)
//	...
//	remote, err := agent.Remote(ctx, caller)
//	...
//	hooks.Use(remote)
//
// A guest has a clock of milliseconds, random numbers, and its memory. It has no files, no network, no environment, no
// arguments, and no other way out than its replies. Its time, its memory and its replies are bounded; see [Option].
// docs/hooks/untrusted.md has the limits of this protection.
//
// Start with [New].
package wasm
