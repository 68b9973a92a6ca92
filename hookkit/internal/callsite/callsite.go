// Package callsite names the place of a call, for example of the Add that registered a hook.
package callsite

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// Of returns the place of the call that is skip frames above the caller of Of, as file:line. The path is relative to
// the main module; see [hookkit.Registration.Site].
func Of(skip int) string {
	var pc [1]uintptr
	runtime.Callers(skip+2, pc[:])
	frame, _ := runtime.CallersFrames(pc[:]).Next()
	return siteOf(frame)
}

// OfMethod returns the name of the method that called the caller of OfMethod, and the place where that method was
// called.
func OfMethod() (name, site string) {
	var pcs [2]uintptr
	runtime.Callers(3, pcs[:])
	frames := runtime.CallersFrames(pcs[:])
	frame, _ := frames.Next()
	name = frame.Function[strings.LastIndexByte(frame.Function, '.')+1:]
	frame, _ = frames.Next()
	return name, siteOf(frame)
}

func siteOf(frame runtime.Frame) string {
	if frame.PC == 0 {
		return "unknown"
	}
	module, main := build()
	return fmt.Sprintf("%s:%d", sitePath(frame.Function, frame.File, module, main), frame.Line)
}

// build returns the path of the main module and of the main package; "" where the program does not know them.
var build = sync.OnceValues(func() (module, main string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	return info.Main.Path, info.Path
})

// sitePath returns the path of a source file, given a function in it. The file system's path differs between machines,
// so the path is made from the import path of the function's package. If that is unknown, for example in a program that
// was built from single files, it is the last two elements of the file's path.
func sitePath(function, file, module, main string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	file = strings.ReplaceAll(file, `\`, "/")
	if dot < 0 || module == "" {
		return lastTwo(file)
	}
	pkg := strings.ReplaceAll(function[:slash+dot], "%2e", ".")
	if pkg == "main" {
		pkg = main
	}
	if path.Base(pkg) != path.Base(path.Dir(file)) { // not a package in a directory of that name
		pkg = strings.TrimSuffix(pkg, "_test")
	}
	switch {
	case pkg == module:
		return path.Base(file)
	case strings.HasPrefix(pkg, module+"/"):
		return path.Join(pkg[len(module)+1:], path.Base(file))
	case !strings.Contains(pkg, "/") || strings.HasSuffix(pkg, ".test"):
		return lastTwo(file) // main of files, and of test binaries
	}
	return path.Join(pkg, path.Base(file))
}

func lastTwo(file string) string {
	dir, base := path.Split(file)
	return path.Join(path.Base(dir), base)
}
