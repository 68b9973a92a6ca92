package callsite

import (
	"runtime"
	"strings"
)

// deepest is the number of frames in which OfPanic looks for the place.
const deepest = 512

// OfPanic returns the place of the panic, or of the runtime.Goexit, that runs the deferred function that OfPanic is
// called from, as file:line. It is the last line of the program before it reached hookkit, the runtime or the standard
// library. If a deferred function recovered from a panic and panicked again, both places are named, the first one
// first. The result is "" if there is no such place.
func OfPanic() string {
	var pcs [deepest]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var owner string // the function that called defer; the program's frames are those above it
	var last, first string
	var fallback runtime.Frame
	var again, seeks bool
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		isPanic := f.Function == "runtime.gopanic"
		switch {
		case isPanic && again, (isPanic || f.Function == "runtime.Goexit") && last == "" && !seeks:
			seeks, again = true, isPanic
			continue
		case !seeks && last == "":
			owner = f.Function // at last that of the deferred function
			continue
		case f.Function == owner[:max(strings.LastIndex(owner, ".func"), 0)]:
			more = false
			continue
		case !seeks || isRuntime(f.Function):
			continue
		}
		if isOutside(f.Function) {
			if fallback.PC == 0 {
				fallback = f
			}
			continue
		}
		seeks = false
		if first = siteOf(f); last == "" {
			last = first
		}
	}
	switch {
	case last == "" && fallback.PC != 0:
		return siteOf(fallback)
	case first != last:
		return first + ", again at " + last
	}
	return last
}

func isRuntime(function string) bool {
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/runtime/") ||
		strings.HasPrefix(function, "runtime/")
}

// hookkit is the import path of the package that people use.
const hookkit = "github.com/hookgen/hookgen/hookkit"

// isOutside reports whether the function belongs to hookkit or to the standard library.
func isOutside(function string) bool {
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return true
	}
	pkg := function[:slash+dot]
	switch pkg {
	case hookkit, hookkit + "/hookimpl", hookkit + "/internal/callsite":
		return true
	}
	module, _ := build()
	root, _, _ := strings.Cut(pkg, "/")
	return root != "main" && !strings.Contains(root, ".") && !strings.Contains(root, "%2e") &&
		pkg != module && !strings.HasPrefix(pkg, module+"/") && !strings.HasSuffix(pkg, "_test")
}
