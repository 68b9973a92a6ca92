package hookimpl

import (
	"reflect"
	"slices"
)

// inChain reports whether found returns true for err or an error that it wraps. It does not call Is methods, as
// errors.Is does, because ErrTimeout.Is also matches a context.DeadlineExceeded that somebody else made. It recovers,
// because Unwrap of a typed nil pointer may panic.
func inChain(err error, found func(error) bool) bool {
	defer func() { _ = recover() }()
	left := maxWrapped
	return anyIn(err, &left, found)
}

// maxWrapped bounds the errors that inChain asks. An error of a hook may wrap itself, and errors.As would never return.
const maxWrapped = 1000

func anyIn(err error, left *int, found func(error) bool) bool {
	for err != nil && *left > 0 {
		*left--
		if found(err) {
			return true
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return anyIn(err, left, found) })
		default:
			return false
		}
	}
	return false
}

// sameError reports whether two errors are one. They need not be comparable: for example, the ErrorList of go/scanner
// is a slice.
func sameError(a, b error) bool {
	t := reflect.TypeOf(a)
	if t != reflect.TypeOf(b) {
		return false
	}
	return t.Kind() == reflect.Pointer && a == b ||
		t.Kind() != reflect.Pointer && identical(reflect.ValueOf(a), reflect.ValueOf(b))
}

func identical(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Slice:
		return a.Len() == b.Len() && a.UnsafePointer() == b.UnsafePointer()
	case reflect.Map, reflect.Func:
		return a.UnsafePointer() == b.UnsafePointer()
	case reflect.Interface:
		return identical(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !identical(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range a.Len() {
			if !identical(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}
