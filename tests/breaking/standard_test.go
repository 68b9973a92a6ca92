package breaking_test

import (
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/internal/usermodule"
	"golang.org/x/tools/go/packages"
)

// TestIncomparableTypes compares the list of types of the standard library that == cannot compare with the library.
// Those of syscall differ from system to system.
func TestIncomparableTypes(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("loads the standard library of linux")
	}
	config := &packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps}
	loaded, err := packages.Load(config, "std")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatal("the standard library does not load: ", err)
	}
	var all []string
	for _, p := range loaded {
		elements := strings.Split(p.PkgPath, "/")
		if slices.Contains(elements, "internal") || elements[0] == "vendor" || p.PkgPath == "syscall" {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			obj, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if ok && obj.Exported() && isIncomparable(t, obj.Type()) {
				all = append(all, p.PkgPath+"."+name+"\n")
			}
		}
	}
	slices.Sort(all)
	name := filepath.Join(usermodule.Root(t), "gen", "incomparable.txt")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	diff := gocmp.Diff(string(text), strings.Join(all, ""))
	if diff != "" && *update {
		if err := os.WriteFile(name, []byte(strings.Join(all, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff != "" {
		t.Errorf("%s -, the standard library + (go test ./tests/breaking -update):\n%s", name, diff)
	}
}

// isIncomparable reports whether == cannot compare values of a type, whatever its type arguments are.
func isIncomparable(t *testing.T, typ types.Type) bool {
	t.Helper()
	named, ok := typ.(*types.Named)
	if !ok || named.TypeParams() == nil {
		return !types.Comparable(typ)
	}
	arguments := slices.Repeat([]types.Type{types.Typ[types.Int]}, named.TypeParams().Len())
	instance, err := types.Instantiate(nil, typ, arguments, false)
	if err != nil {
		t.Fatal(err)
	}
	return !types.Comparable(instance)
}
