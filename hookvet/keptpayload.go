package hookvet

import (
	"go/ast"
	"go/types"
)

var keptPayload = check{
	name: "keptpayload",
	doc: `find hooks that keep what is valid only during the call

The next of an around hook may be called until the hook returns, and a run is freed with its state when the program is
done with it. A hook that stores one of them in a field, a package variable or a channel uses it too late. The same holds
for a pointer to the parameter of the payload, which is a copy that nothing updates.`,
	tests: true,
	run: func(r *reporter) {
	},
}

var _ = ast.Inspect
var _ types.Type
