// Command hookgen generates typed hooks from a spec file. Its manual is hookgen -h; that of the spec language is the
// documentation of package spec.
package main

import (
	"os"
	"runtime/debug"
)

func main() {
	// A run is over before collecting garbage could pay; only a huge package comes near the limit.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(512 << 20)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
