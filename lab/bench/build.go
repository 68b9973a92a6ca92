package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A built holds the costs of building a generated package of n flow points.
type built struct {
	n       int
	bytes   int64     // of generated source, with comments
	lines   int64     // of it
	compile []float64 // processor time of go build in seconds, dependencies cached, one per round
	binary  int64     // added to a program that already has the dependencies and uses the whole package
	bare    int64     // without debug information
}

// each returns the share of one point.
func (b built) each(size int64) float64 { return float64(size) / float64(b.n) }

// inBinary returns the share of one point, in thousands of bytes.
func (b built) inBinary(size int64) float64 { return float64(size) / float64(b.n-1) / 1000 }

// useOfPoints returns a program that adds a hook to every point and fires the point.
func useOfPoints(n int) string {
	var use strings.Builder
	for i := range n {
		fmt.Fprintf(&use, `	h.%[1]s.Add(big.%[1]sFunc(func(
		_ context.Context, _ *big.Run, c big.Call,
	) (big.%[1]sOutcome, error) {
		return big.Replace%[1]s(c, ""), nil
	}))
	fmt.Println(h.%[1]s.Fire(ctx, run, &call))
`, fmt.Sprintf("BeforeTool%d", i+1))
	}
	return `package main

import (
	"context"
	"fmt"

	"example.com/big"
)

func main() {
	var (
		h    big.Hooks
		call big.Call
	)
	ctx, run := context.Background(), big.NewRun(struct{}{})
` + use.String() + "}\n"
}

// pack measures a package that hookgen generates from n points. The baseline of its size in a binary is a package of
// one point.
func (w workshop) pack(n, rounds int) (built, error) {
	dir, whole, bare, err := w.program(n)
	if err != nil {
		return built{}, err
	}
	_, wholeOfOne, bareOfOne, err := w.program(1)
	if err != nil {
		return built{}, err
	}
	b := built{n: n, binary: whole - wholeOfOne, bare: bare - bareOfOne}
	if b.bytes, b.lines, err = size(filepath.Join(dir, "hooks_gen.go")); err != nil {
		return b, err
	}
	for round := range rounds {
		// A different comment each time makes go build compile the package again, but not its dependencies.
		other := fmt.Sprintf("package big\n\n// round %d of %d\n", round, time.Now().UnixNano())
		if err := os.WriteFile(filepath.Join(dir, "round.go"), []byte(other), 0o644); err != nil {
			return b, err
		}
		t, err := w.run(dir, "go", "build", ".")
		if err != nil {
			return b, err
		}
		b.compile = append(b.compile, t.cpu.Seconds())
	}
	return b, nil
}

// size returns the bytes and lines of a source file.
func size(file string) (whole, lines int64, err error) {
	source, err := os.ReadFile(file)
	return int64(len(source)), int64(bytes.Count(source, []byte("\n"))), err
}

// program creates a package for n points and a program that uses it. It returns the package's directory and the
// program's size, with and without debug information.
func (w workshop) program(n int) (dir string, whole, bare int64, err error) {
	dir, err = w.module(fmt.Sprintf("package-hookgen-%d", n), flowSpec(n), w.requireKit()...)
	if err != nil {
		return "", 0, 0, err
	}
	if _, err := w.run(dir, "hookgen"); err != nil {
		return "", 0, 0, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "use"), 0o755); err != nil {
		return "", 0, 0, err
	}
	if err := os.WriteFile(filepath.Join(dir, "use", "main.go"), []byte(useOfPoints(n)), 0o644); err != nil {
		return "", 0, 0, err
	}
	var sizes [2]int64
	for i, flags := range []string{"", "-s -w"} {
		if _, err := w.run(dir, "go", "build", "-ldflags="+flags, "-o", "use.bin", "./use"); err != nil {
			return "", 0, 0, err
		}
		info, err := os.Stat(filepath.Join(dir, "use.bin"))
		if err != nil {
			return "", 0, 0, err
		}
		sizes[i] = info.Size()
	}
	return dir, sizes[0], sizes[1], nil
}
