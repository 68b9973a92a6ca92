package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// A revision is the tree of one commit. It is read with git, without a checkout, and nothing is written.
type revision struct {
	name string // as the user named it
	top  string // the root of the working tree
	hash string
}

// A gitError is a failure of git. Its text is the first line that git printed.
type gitError struct{ text string }

func (e *gitError) Error() string { return e.text }

// git runs a command of git in a directory and returns its output. It runs git itself and no shell, and without the
// variables of a hook of git, which name the repository of that hook.
func git(dir string, args ...string) ([]byte, error) {
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
	})
	command.Env = append(command.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_LITERAL_PATHSPECS=1")
	out, err := command.Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("git is not installed: install it, or compare with a copy of the old directory")
	case errors.As(err, &exit):
		text, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return out, &gitError{strings.TrimPrefix(text, "fatal: ")}
	}
	return out, err
}

// openRevision finds a revision in the repository of a directory. It also returns the path of the directory in the
// repository.
func openRevision(dir, name string) (*revision, string, error) {
	info, err := git(dir, "rev-parse", "--show-toplevel", "--show-prefix", "--is-shallow-repository")
	var failure *gitError
	switch {
	case errors.As(err, &failure) && strings.Contains(failure.text, "not a git repository"):
		return nil, "", fmt.Errorf("%s is in no git repository: compare with a copy of the old directory, -against DIR", dir)
	case errors.As(err, &failure):
		return nil, "", fmt.Errorf("git cannot read the repository of %s: %w: git status there shows more", dir, err)
	case err != nil:
		return nil, "", err
	}
	lines := strings.Split(string(info), "\n")
	if len(lines) < 3 {
		return nil, "", fmt.Errorf("git says %q about the repository of %s, which is not understood", info, dir)
	}
	r := &revision{name: name, top: filepath.FromSlash(lines[0])}
	hash, err := git(dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		remedy := "git log and git tag list those that do"
		if lines[2] == "true" {
			remedy = "this clone is shallow and may lack it; run git fetch --unshallow --tags, " +
				"or let the checkout step of the workflow have fetch-depth: 0"
		}
		return nil, "", fmt.Errorf("the revision %s does not exist: %s", name, remedy)
	}
	words := strings.Fields("- " + string(hash)) // git before 2.30 repeats --end-of-options
	if r.hash = words[len(words)-1]; strings.Trim(r.hash, "0123456789abcdef") != "" {
		return nil, "", fmt.Errorf("git says %q about the revision %s, which is not understood", hash, name)
	}
	return r, strings.TrimSuffix(lines[1], "/"), nil
}

// read returns the texts of the files in a directory whose names wanted accepts, in the order of their names. Links and
// submodules are left out, and a directory that does not exist has no files.
func (r *revision) read(dir string, wanted func(name string) bool) ([]gen.File, error) {
	if !filepath.IsLocal(filepath.FromSlash(dir)) {
		return nil, nil // outside of the repository
	}
	args := []string{"ls-tree", "-z", "--full-tree", r.hash, "--"}
	if dir != "." {
		args = append(args, dir+"/")
	}
	list, err := git(r.top, args...)
	if err != nil {
		return nil, fmt.Errorf("git cannot list %s at %s: %w", dir, r.name, err)
	}
	var files []gen.File
	for entry := range strings.SplitSeq(string(list), "\x00") { // mode, type and name of the object, a tab, and the path
		object, name, _ := strings.Cut(entry, "\t")
		words := strings.Fields(object)
		if len(words) != 3 || words[0] == "120000" || words[1] != "blob" || !wanted(path.Base(name)) {
			continue
		}
		text, err := git(r.top, "cat-file", "blob", words[2])
		if err != nil {
			return nil, fmt.Errorf("git cannot read %s at %s: %w: run git fetch, or compare with a copy of the old directory",
				name, r.name, err)
		}
		files = append(files, gen.File{Path: r.name + ":" + name, Text: text})
	}
	return files, nil
}

// goFiles returns the Go files of a directory that can contain a spec or its types.
func (r *revision) goFiles(dir string) ([]gen.File, error) {
	return r.read(dir, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && name[0] != '.' && name[0] != '_'
	})
}

// goMod returns the go.mod of the module that contains a directory, and the directory of that file. The text is nil if
// the directory is in no module.
func (r *revision) goMod(dir string) (text []byte, root string) {
	for at := dir; ; at = path.Dir(at) {
		files, err := r.read(at, func(name string) bool { return name == "go.mod" })
		if err == nil && len(files) == 1 {
			return files[0].Text, at
		}
		if at == "." || at == "/" {
			return nil, ""
		}
	}
}

// specDirs returns the directories with a file that contains the directive of a spec.
func (r *revision) specDirs() ([]string, error) {
	out, err := git(r.top, "grep", "-l", "-z", "--full-name", "--fixed-strings", "-e", "//hookgen:points",
		r.hash, "--")
	var failure *gitError
	if errors.As(err, &failure) && failure.text == "" {
		return nil, nil // no match
	}
	if err != nil {
		return nil, fmt.Errorf("git cannot search %s: %w", r.name, err)
	}
	var dirs []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		name = strings.TrimPrefix(name, r.hash+":")
		dir := path.Dir(name)
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}
