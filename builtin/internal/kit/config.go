package kit

import (
	"fmt"
)

// MustConfig panics if a hook cannot work as it is configured. Every Bind checks its hook's fields with it, so
// that a mistake is found when the hook is used, never while a point is fired. err names the field and says what
// to do.
func MustConfig(hook string, err error) {
	if err != nil {
		panic(fmt.Sprintf("%s: %v", hook, err))
	}
}

// LastPriority is the priority of hooks that run after those without a priority.
const LastPriority = -100
