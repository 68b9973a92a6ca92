package gen

import (
	"go/ast"
	"go/build/constraint"
	"strings"
)

// buildConstraint returns the build constraint of a file, or nil if the file has none.
func buildConstraint(f *ast.File) *ast.Comment {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			break
		}
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text) && group != f.Doc {
				return c
			}
		}
	}
	return nil
}

// constrainedName returns the operating system or architecture in a file name such as hooks_linux.go, or "".
func constrainedName(name string) string {
	name, _, _ = strings.Cut(name, ".")
	words := strings.Split(name, "_")
	if len(words) < 2 {
		return ""
	}
	if last := words[len(words)-1]; systems[last] || architectures[last] {
		return last
	}
	return ""
}

// The systems and architectures that the go command knows in file names, past and present.
var (
	systems = words(`aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd
		plan9 solaris wasip1 windows zos`)
	architectures = words(`386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le
		mips64p32 mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)
)

// words returns the set of the words of a text.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
