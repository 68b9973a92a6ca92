package callsite

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// NameOf returns the type of a hook without its star and its type arguments, or the name of a function.
func NameOf(hook any) string {
	v := reflect.ValueOf(hook)
	if v.Kind() == reflect.Func {
		if f := runtime.FuncForPC(v.Pointer()); f != nil {
			name := f.Name()
			return name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	name, _, _ := strings.Cut(strings.TrimLeft(fmt.Sprintf("%T", hook), "*"), "[")
	return name
}

// Stack returns the stack of this goroutine, as debug.Stack does. That begins with 1 KB and walks the whole stack again
// for each buffer that is too small, which would take most of the time of a fire whose hooks panic.
func Stack() []byte {
	for size := 8 << 10; ; size *= 2 {
		buffer := make([]byte, size)
		if n := runtime.Stack(buffer, false); n < size {
			return bytes.Clone(buffer[:n])
		}
	}
}
