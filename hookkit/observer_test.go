package hookkit_test

import "context"

type ctx = context.Context

// nothing is an observer that does nothing.
var nothing = observer(func(context.Context, *run, fired) {})
