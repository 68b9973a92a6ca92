package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventpage"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/internal/progress"
)

// html writes the page of a record into one file.
func (i *invocation) html(ctx context.Context, args []string) (int, error) {
	flags := newFlags("html")
	var run, out, named string
	flags.StringVar(&run, "run", "", "")
	flags.StringVar(&out, "o", "", "")
	flags.StringVar(&named, "name", "", "")
	files, err := parse(flags, args)
	if err != nil {
		return trouble, err
	}
	x, err := i.openIndex(files, named)
	if err != nil {
		return trouble, err
	}
	defer x.Close() // it was only read
	if out == "" {
		out = files[0] + ".html"
	}
	if err := checkPage(out, files[0]); err != nil {
		return trouble, err
	}
	i.line.Set(func() string { s := x.Status(); return "read " + progress.Bytes(s.Read, s.Size) })
	if err := x.Update(ctx); err != nil {
		return trouble, err
	}
	i.line.Set(func() string { return "making the page" })
	var problems reporter
	code := problems.report(i.stderr, x.Status(), true)
	i.checkName(x)
	runs, err := runsOf(x, run)
	if err != nil {
		return trouble, err
	}
	var page bytes.Buffer
	err = eventpage.Write(&page, x, filepath.Base(files[0]), runs...)
	switch {
	case errors.Is(err, eventpage.ErrTooLarge):
		return trouble, fmt.Errorf("%w: choose runs with -run, write a part of the record into a file with hooklog show "+
			"-json, or look at the record with hooklog serve", err)
	case err == nil && out == "-":
		_, err = i.stdout.Write(page.Bytes())
	case err == nil:
		err = atomicfile.Write(out, page.Bytes())
	}
	if err != nil {
		return trouble, err
	}
	return code, nil
}

// checkPage reports an error if the page would replace a file of the record, or a device.
func checkPage(out, record string) error {
	info, err := os.Stat(out)
	if err != nil || out == "-" {
		return nil // it does not exist, or writing it reports the error
	}
	if !info.Mode().IsRegular() {
		return usage("-o %s is not a regular file; pass -o - for standard output", out)
	}
	files, err := filesOf(record)
	if err != nil {
		return err
	}
	defer closeAll(files)
	if hasFile(files, info) {
		return usage("-o %s is a file of the record; name another one", out)
	}
	return nil
}

// runsOf returns the numbers of the runs whose ID begins with a prefix; none for "", which means all of them. Runs that
// one of them started are not listed on their own.
func runsOf(x *eventlog.Index, prefix string) (numbers []int, err error) {
	if prefix == "" {
		return nil, nil
	}
	for n := x.Status().Runs - 1; n >= 0; n-- {
		r, above, _ := x.Run(n)
		listed := hasPrefix(r.ID, prefix)
		for _, a := range above {
			listed = listed && !hasPrefix(a.ID, prefix)
		}
		if listed {
			numbers = append(numbers, n)
		}
	}
	if numbers == nil {
		return nil, fmt.Errorf("no run has an ID that begins with %s", quoted(prefix, 40))
	}
	return numbers, nil
}
