// Tour shows hookgen at work, from the first line of a spec to a new exit that the compiler makes the program handle.
// It works in a temporary directory, runs every command that it prints, and shows the unedited output.
//
// From the root of the repository:
//
//	go run ./examples/tour
//
// With -keep the directory stays, so that you can experiment in it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	keep := flag.Bool("keep", false, "keep the directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &narrator{out: os.Stdout, colours: coloured(os.Stdout)}, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		stop()
		os.Exit(1)
	}
}

// run gives the tour.
func run(ctx context.Context, n *narrator, keep bool) (err error) {
	dir, err := os.MkdirTemp("", "hookgen-tour-*")
	if err != nil {
		return err
	}
	defer func() {
		if keep {
			n.say("The files are in %s.", dir)
		} else if failed := os.RemoveAll(dir); err == nil {
			err = failed
		}
	}()
	s, err := newStage(ctx, n, dir)
	if err != nil {
		return err
	}
	for i, scene := range scenes {
		n.title(fmt.Sprintf("%d of %d: %s", i+1, len(scenes), scene.title))
		if err := scene.play(s); err != nil {
			return fmt.Errorf("%s: %w", scene.title, err)
		}
	}
	return nil
}
