package record

import (
	"cmp"
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
// view is one of [Shown]. Views that write files write them into a temporary directory first. Lines that cannot be read
// are skipped, and the error is that of the first.
func Show(ctx context.Context, w io.Writer, view string, events iter.Seq2[hooklog.Event, error]) error {
	dir, err := os.MkdirTemp("", "hook-view-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var failed error
	note := func(err error) { failed = err }
	var v View
	files := func(path string) (string, error) { data, err := os.ReadFile(path); return string(data), err }
	show := func() (string, error) { return textOf(dir, "", files) }
	switch view {
	case "metrics":
		m := new(Metrics)
		v, show = m, func() (string, error) { return m.Report().String(), nil }
	case "timing":
		t := new(Timing)
		v, show = t, func() (string, error) { return lines(t.Samples(), timingLine), nil }
	case "history":
		h := &History{Keep: limit.None}
		v, show = h, func() (string, error) { return lines(h.Runs(agent.Identity{}, ""), historyLine), nil }
	case "summary":
		v = &Summary{Dir: dir, OnError: note}
	case "episodes":
		store := &memory.Facts{Share: share.Everyone}
		v, show = &Episodes{Store: store, OnError: note}, func() (string, error) {
			all, err := memory.Episodes(ctx, store, 0)
			slices.Reverse(all)
			return lines(all, func(e memory.Episode) string { return string(jsonx.Encode(e)) }), err
		}
	case "tree":
		v = &Tree{Dir: dir, OnError: note}
		show = func() (string, error) { return textOf(dir, ".jsonl", treeText) }
	case "trajectory":
		v = &Provenance{Dir: dir, OnError: note}
		show = func() (string, error) { return textOf(dir, trajectoryFile, trajectoryText) }
	default:
		return fmt.Errorf("%q is not a view; choose one of %s", view, strings.Join(Shown(), ", "))
	}
	unread := Read(ctx, events, v)
	text, err := show()
	if ctx.Err() == nil {
		_, unwritten := io.WriteString(w, text)
		err = cmp.Or(failed, err, unwritten)
	}
	return errors.Join(unread, err)
}

// lines returns a line of each value.
func lines[T any](all []T, line func(T) string) string {
	var b strings.Builder
	for _, v := range all {
		b.WriteString(line(v) + "\n")
	}
	return b.String()
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

// textOf returns the texts of the files below a directory whose paths have an ending, in order of the paths.
func textOf(dir, ending string, text func(path string) (string, error)) (string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ending) && !strings.HasSuffix(path, ".lock") {
			paths = append(paths, path)
		}
		return err
	})
	slices.Sort(paths)
	var all strings.Builder
	for i := 0; i < len(paths) && err == nil; i++ {
		var one string
		one, err = text(paths[i])
		all.WriteString(one)
	}
	return all.String(), err
}

func treeText(path string) (string, error) {
	t, err := readTreeFile(path)
	return t.Conversation + "\n" + t.Markdown(), err
}

func trajectoryText(path string) (string, error) {
	run, err := ReadTrajectory(filepath.Dir(path))
	return fmt.Sprintf("%s: %s\n%s\n", run.RunID, run.Summary, run.SessionLogText), err
}
