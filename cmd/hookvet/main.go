// Command hookvet finds mistakes in programs with hooks that compile. Run it on packages, or from go vet:
//
//	hookvet ./...
//	go vet -vettool=$(which hookvet) ./...
//
// hookvet help lists the checks, and hookvet help NAME explains one. The page docs/hookvet.md has an example of each.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/hookgen/hookgen/hookvet"
)

func main() { multichecker.Main(hookvet.Analyzers()...) }
