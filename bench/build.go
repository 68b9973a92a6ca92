package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A built is what a generated package of n flow points, or of n mocks, costs who builds it.
type built struct {
	n       int
	bytes   int64           // of generated source
	compile []time.Duration // processor time of go build, dependencies cached, one per round
	binary  int64           // added to a program that has the dependencies already and reaches all of the package
}

// kitModule is what a module needs to compile against the working copy in root.
func kitModule(root string) []string {
	return []string{"require github.com/hookgen/hookgen v0.0.0", "replace github.com/hookgen/hookgen => " + root}
}

// hookgenPackage builds a generated package of n points.
func (w workshop) hookgenPackage(root string, n, rounds int) (built, error) {
	dir, err := w.module(fmt.Sprintf("package-hookgen-%d", n), flowSpec(n), kitModule(root)...)
	if err != nil {
		return built{}, err
	}
	if _, err := w.run(dir, "hookgen"); err != nil {
		return built{}, err
	}
	return w.pack(dir, "hooks_gen.go", n, rounds, `package main

import (
	"os"

	_ "encoding/json"

	"example.com/big"
)

func main() {
	var h big.Hooks
	h.Explain(os.Stdout)
}
`, `package main

import (
	"io"
	"os"

	_ "encoding/json"

	"github.com/hookgen/hookgen/hookkit"
)

func main() { hookkit.Explain(io.Writer(os.Stdout), nil) }
`)
}

// mockPackage builds what mockgen makes of n interfaces.
func (w workshop) mockPackage(n, rounds int) (built, error) {
	dir, err := w.module(fmt.Sprintf("package-mockgen-%d", n), interfaces(n), "require go.uber.org/mock v0.6.0")
	if err != nil {
		return built{}, err
	}
	if _, err := w.run(dir, "mockgen", "-source=in.go", "-package=big", "-destination=out.go"); err != nil {
		return built{}, err
	}
	all := ""
	for i := range n {
		all += fmt.Sprintf("\tfmt.Println(big.NewMockTool%d(c))\n", i+1)
	}
	return w.pack(dir, "out.go", n, rounds, "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/big\"\n\t\"go.uber.org/mock/gomock\"\n)\n\nfunc main() {\n\tc := gomock.NewController(nil)\n"+all+"}\n",
		"package main\n\nimport (\n\t\"fmt\"\n\n\t\"go.uber.org/mock/gomock\"\n)\n\nfunc main() { fmt.Println(gomock.NewController(nil)) }\n")
}

// pack measures a generated package: full is a program that reaches all of it, bare one that has its dependencies
// alone.
func (w workshop) pack(dir, generated string, n, rounds int, full, bare string) (built, error) {
	b := built{n: n}
	info, err := os.Stat(filepath.Join(dir, generated))
	if err != nil {
		return b, err
	}
	b.bytes = info.Size()
	sizes := map[string]int64{}
	for name, source := range map[string]string{"full": full, "bare": bare} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return b, err
		}
		if err := os.WriteFile(filepath.Join(dir, name, "main.go"), []byte(source), 0o644); err != nil {
			return b, err
		}
		if _, err := w.run(dir, "go", "build", "-o", name+".bin", "./"+name); err != nil {
			return b, err
		}
		info, err := os.Stat(filepath.Join(dir, name+".bin"))
		if err != nil {
			return b, err
		}
		sizes[name] = info.Size()
	}
	b.binary = sizes["full"] - sizes["bare"]
	for round := range rounds {
		// Another comment each time, so that the package is compiled anew and its dependencies are not.
		other := fmt.Sprintf("package big\n\n// round %d of %d\n", round, time.Now().UnixNano())
		if err := os.WriteFile(filepath.Join(dir, "round.go"), []byte(other), 0o644); err != nil {
			return b, err
		}
		t, err := w.run(dir, "go", "build", ".")
		if err != nil {
			return b, err
		}
		b.compile = append(b.compile, t.cpu)
	}
	return b, nil
}
