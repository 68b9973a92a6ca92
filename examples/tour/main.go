// Tour shows the main job of hookgen: a spec, the generated code, a hook that decides, the compile error of a wrong
// hook, and a record. It works in a temporary directory, runs each command that it prints, and shows the real output.
//
// From the root of the repository:
//
//	go run ./examples/tour
//
// It needs the go command and no network. With -keep the directory remains, so that you can experiment in it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	keep := flag.Bool("keep", false, "keep the directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		stop()
		os.Exit(1)
	}
}

// run gives the tour.
func run(ctx context.Context, out io.Writer, keep bool) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the go command is not in the PATH: install Go 1.26 or later from https://go.dev/dl")
	}
	dir, err := os.MkdirTemp("", "hookgen-tour-*")
	if err != nil {
		return err
	}
	defer func() {
		if keep {
			fmt.Fprintf(out, "\nThe module is in %s.\n", filepath.Join(dir, "tour"))
		} else if failed := os.RemoveAll(dir); err == nil {
			err = failed
		}
	}()
	s, err := newStage(ctx, out, dir)
	if err != nil {
		return err
	}
	for i, scene := range scenes {
		s.say("\n%d. %s", i+1, scene.says)
		if err := scene.play(s); err != nil {
			return err
		}
	}
	s.say("\nThe same step by step: docs/hooks/getting-started.md. An agent with hooks: loop/README.md.")
	return nil
}

// A scene is a part of the tour.
type scene struct {
	says string
	play func(*stage) error
}

const (
	legal   = "\t\treturn mail.Refuse{Reason: \"too long\"}, nil\n"
	illegal = "\t\treturn mail.Junk{Reason: \"too long\"}, nil\n"
)

var scenes = []scene{
	{"A spec: each method is a moment when hooks are called, and its results are what hooks may decide there.",
		func(s *stage) error {
			return errors.Join(s.show("mail/spec.go", "//hookgen:points"), s.succeeds("hookgen", "mail"))
		}},
	{"A hook, in another package. It compiles, because its decision is legal at its point.", func(s *stage) error {
		return errors.Join(s.show("limit/limit.go", "func (l Limit) BeforeSend("), s.succeeds("go", "build", "./limit"))
	}},
	{"A wrong hook: Junk is legal when a message arrives, and means nothing before one is sent.", func(s *stage) error {
		return errors.Join(s.edit("limit/limit.go", legal, illegal), s.refused("go", "build", "./limit"),
			s.write("limit/limit.go", s.files["limit/limit.go"]))
	}},
	{"A program with the right hook: it fires the point and handles each decision.", func(s *stage) error {
		return errors.Join(s.show("main.go", "func send("), s.succeeds("go", "run", "."))
	}},
	{"A record: an observer of the program has written each fire, with the decision, the hook and the reason.",
		func(s *stage) error { return s.succeeds("hooklog", "show", "run.jsonl") }},
}
