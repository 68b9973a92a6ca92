package callsite

import (
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
			return f.Name()[strings.LastIndexByte(f.Name(), '/')+1:]
		}
	}
	name, _, _ := strings.Cut(strings.TrimLeft(fmt.Sprintf("%T", hook), "*"), "[")
	return name
}
