// Command release prepares a release of this repository: of the root module and of every other module that is not in
// unreleased, all with the same version. It changes their go.mod and go.sum in the working tree, and prints the tags.
// RELEASE.md has the other steps.
//
//	go run ./lab/release [-proxy DIR] VERSION
//
// With -proxy it leaves the tree alone and writes the release into DIR, which must not exist, as files of a module
// proxy. Programs install from it with GOPROXY=file://DIR.
//
// A release is of the last commit, so the tree must be clean. The exit status is 1 if the release is refused, and
// nothing is changed then. It is 2 if the command is used wrongly.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/hookgen/hookgen/internal/moduleproxy"
)

func main() {
	proxy := flag.String("proxy", "", "write a module proxy into this new `directory`, and leave the tree alone")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./lab/release [-proxy DIR] VERSION, such as v0.1.0")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tags, err := release(ctx, ".", flag.Arg(0), *proxy, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	for _, tag := range tags {
		fmt.Println(tag)
	}
}

// release releases the repository that contains dir, into the proxy if that is not "", and returns the tags.
func release(ctx context.Context, dir, version, proxy string, progress io.Writer) (tags []string, err error) {
	repo, err := openRepository(ctx, dir)
	if err != nil {
		return nil, err
	}
	if proxy != "" {
		if _, err := os.Lstat(proxy); err == nil {
			return nil, fmt.Errorf("%s exists; remove it, or name another directory", proxy)
		}
	}
	if err := repo.check(version); err != nil {
		return nil, err
	}
	// The release is made in a clone, so that an error or an interrupt changes nothing.
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	clone := filepath.Join(work, "clone")
	fmt.Fprintln(progress, "release: cloning the last commit")
	if err := repo.clone(clone); err != nil {
		return nil, err
	}
	t, err := readTree(clone)
	if err != nil {
		return nil, err
	}
	if err := t.check(version); err != nil {
		return nil, err
	}
	files := filepath.Join(work, "proxy")
	order, err := t.order()
	if err != nil {
		return nil, err
	}
	for _, m := range order {
		fmt.Fprintln(progress, "release:", m.path())
		if err := t.prepare(ctx, m, version, files); err != nil {
			return nil, fmt.Errorf("%s: %w", m.dir, err)
		}
		if m.released() {
			if err := t.addLicense(m); err != nil {
				return nil, err
			}
			if err := moduleproxy.Add(files, m.path(), version, t.path(m.dir), repo.time); err != nil {
				return nil, fmt.Errorf("%s: %w", m.dir, err)
			}
			tags = append(tags, m.tag(version))
		}
	}
	if proxy == "" {
		return tags, t.copyTo(repo.dir)
	}
	return tags, os.CopyFS(proxy, os.DirFS(files))
}
