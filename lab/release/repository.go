package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// A repository is a git repository with its working tree.
type repository struct {
	ctx  context.Context
	dir  string
	time time.Time // of the last commit
}

// openRepository finds the repository that contains dir.
func openRepository(ctx context.Context, dir string) (*repository, error) {
	r := &repository{ctx: ctx, dir: dir}
	top, err := r.git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	r.dir = strings.TrimSpace(top)
	seconds, err := r.git("log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	unix, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	r.time = time.Unix(unix, 0)
	return r, err
}

// check refuses a version that is not newer than every tag, and a tree that is not the last commit.
func (r *repository) check(version string) error {
	if module.CanonicalVersion(version) != version || module.IsPseudoVersion(version) ||
		strings.Contains(version, "+") {
		return fmt.Errorf("%q is not a version to release; write all three numbers, as in v0.1.0 or v0.2.0-rc.1", version)
	}
	if shallow, err := r.git("rev-parse", "--is-shallow-repository"); err != nil {
		return err
	} else if strings.TrimSpace(shallow) == "true" {
		return errors.New("this clone is shallow and may lack tags; run git fetch --unshallow --tags")
	}
	tags, err := r.git("tag", "--list")
	if err != nil {
		return err
	}
	newest := ""
	for _, tag := range strings.Fields(tags) {
		if v := path.Base(tag); semver.IsValid(v) && semver.Compare(v, path.Base(newest)) > 0 {
			newest = tag
		}
	}
	if newest != "" && semver.Compare(version, path.Base(newest)) <= 0 {
		return fmt.Errorf("%s is not newer than the tag %s; choose a higher version", version, newest)
	}
	status, err := r.git("status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return err
	}
	if status != "" {
		return fmt.Errorf("the tree differs from the last commit; commit, stash or remove these files:\n%s", status)
	}
	return nil
}

// clone writes the files of the last commit into dir, with the line ends that they have in the commit.
func (r *repository) clone(dir string) error {
	_, err := r.git("clone", "-q", "--shared", "-c", "core.autocrlf=false", r.dir, dir)
	return err
}

// git runs a command of git and returns its output.
func (r *repository) git(args ...string) (string, error) {
	return run(exec.CommandContext(r.ctx, "git", args...), r.dir)
}

// run runs a command in a directory and returns its output. The error has the standard error of the command.
func run(cmd *exec.Cmd, dir string) (string, error) {
	var problem strings.Builder
	cmd.Dir, cmd.Stderr = dir, &problem
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(problem.String()))
	}
	return string(out), nil
}
