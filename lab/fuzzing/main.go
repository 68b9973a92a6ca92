// Command fuzzing runs the fuzz targets of this repository one after another and writes the results into
// docs/evidence/figures/fuzzing.json. Run it from the root of the repository:
//
//	go run ./lab/fuzzing -each 10m [-only FuzzRead,FuzzEmit]
//
// The inputs that go finds stay in its cache, and the next run continues with them.
//
// The exit status is 1 if an input fails; go has then written it to testdata/fuzz. It is 2 if the command could
// not run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	each := flag.Duration("each", 10*time.Minute, "how long each target runs")
	only := flag.String("only", "", "the targets to run, with commas between them; all if empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, *each, *only)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "fuzzing:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// run reports whether an input failed.
func run(ctx context.Context, each time.Duration, only string) (failed bool, err error) {
	if _, err := os.Stat("lab/fuzzing"); err != nil || flag.NArg() > 0 || each < time.Second {
		return false,
			errors.New("wrong usage; run it from the root of the repository, with flags only and at least a second per target")
	}
	all, err := find(".")
	if err != nil {
		return false, err
	}
	targets := all
	if only != "" {
		names := strings.Split(only, ",")
		for _, name := range names {
			if !slices.ContainsFunc(targets, func(t target) bool { return t.Name == name }) {
				return false, fmt.Errorf("no package has a target %s", name)
			}
		}
		targets = slices.DeleteFunc(slices.Clone(all), func(t target) bool { return !slices.Contains(names, t.Name) })
	}
	var unable []error // a package that does not build must not stop the others
	for _, t := range targets {
		ran, err := t.fuzz(ctx, each)
		if err == nil {
			err = add(".", all, t, ran)
		}
		if err != nil {
			unable = append(unable, err)
		}
		failed = failed || len(ran.Failed) > 0
		if ctx.Err() != nil {
			break
		}
	}
	return failed, errors.Join(unable...)
}
