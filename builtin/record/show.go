package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// Shown has the names of the views that [Show] shows.
func Shown() []string {
	return []string{"episodes", "history", "metrics", "summary", "timing", "trajectory", "tree"}
}

// Show writes a view of the events of a record to w, as text for people. The command hooklog shows views with it. The
// view is one of [Shown]. Views that write files write them into a temporary directory first.
func Show(ctx context.Context, w io.Writer, view string, events iter.Seq2[hooklog.Event, error]) error {
	dir, err := os.MkdirTemp("", "hook-view-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var failed error
	note := func(err error) { failed = err }
	var v View
	show := func() error { return eachFile(dir, "", func(path string) error { return copyFile(w, path) }) }
	switch view {
	case "metrics":
		m := new(Metrics)
		v, show = m, func() error { _, err := io.WriteString(w, m.Report().String()); return err }
	case "timing":
		t := new(Timing)
		v, show = t, func() error { return writeLines(w, t.Samples(), timingLine) }
	case "history":
		h := &History{Keep: limit.None}
		v, show = h, func() error { return writeLines(w, h.Runs(agent.Identity{}, ""), historyLine) }
	case "summary":
		v = &Summary{Dir: dir, OnError: note}
	case "episodes":
		store := &memory.Facts{Share: share.Everyone}
		v, show = &Episodes{Store: store, OnError: note}, func() error {
			all, err := memory.Episodes(ctx, store, 0)
			slices.Reverse(all)
			return errors.Join(err, writeLines(w, all, func(e memory.Episode) string { return string(jsonx.Encode(e)) }))
		}
	case "tree":
		v = &Tree{Dir: dir, OnError: note}
		show = func() error { return eachFile(dir, ".jsonl", func(path string) error { return writeTree(w, path) }) }
	case "trajectory":
		v = &Provenance{Dir: dir, OnError: note}
		show = func() error {
			return eachFile(dir, trajectoryFile, func(path string) error { return writeTrajectory(w, filepath.Dir(path)) })
		}
	default:
		return fmt.Errorf("%q is not a view; choose one of %s", view, strings.Join(Shown(), ", "))
	}
	if err := Read(ctx, events, v); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return show()
}

func writeLines[T any](w io.Writer, all []T, line func(T) string) error {
	for _, v := range all {
		if _, err := fmt.Fprintln(w, line(v)); err != nil {
			return err
		}
	}
	return nil
}

func timingLine(s TimingSample) string {
	return fmt.Sprintf("%s  %-4s  %10v  %s", s.Time.Format(time.DateTime), s.Kind, s.Duration, s.Name)
}

func historyLine(e HistoryEntry) string {
	line := fmt.Sprintf("%s  %s  %s  %d steps  %d tokens  %v  %d errors  %s", e.Time.Format(time.DateTime), e.Run,
		e.Status, e.Steps, e.Usage.Total(), e.Duration, e.Errors, e.Agent)
	if e.Message != "" {
		line += "  " + shorten.Line(e.Message, shorten.SummaryChars)
	}
	return line
}

// eachFile calls f with each file below a directory whose path has an ending, in order of the paths.
func eachFile(dir, ending string, f func(path string) error) error {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ending) && !strings.HasSuffix(path, ".lock") {
			paths = append(paths, path)
		}
		return err
	})
	slices.Sort(paths)
	for _, path := range paths {
		if err == nil {
			err = f(path)
		}
	}
	return err
}

func copyFile(w io.Writer, path string) error {
	data, err := os.ReadFile(path)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

func writeTree(w io.Writer, path string) error {
	t, err := readTreeFile(path)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n%s", t.Conversation, t.markdown())
	}
	return err
}

func writeTrajectory(w io.Writer, dir string) error {
	run, err := ReadTrajectory(dir)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s: %s\n%s\n", run.RunID, run.Summary, run.SessionLogText)
	}
	return err
}
