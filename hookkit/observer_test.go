package hookkit_test

import "context"

// nothing is an observer that does nothing.
var nothing = observer(func(context.Context, *run, fired) {})
