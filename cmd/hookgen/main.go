// Command hookgen generates typed hooks from a spec file. Its manual is hookgen -h; that of the spec language
// is the documentation of package spec.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
