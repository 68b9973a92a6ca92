package permission

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookgen/hookgen/builtin/internal/realpath"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/generated/agent"
)

// PathGlob returns a predicate on arguments that hold a path or a list of paths. For example, PathGlob("path,source",
// "secret/**") matches calls whose argument path or source is a file below the folder secret.
//
// name is the name of the argument, or a list of names separated by commas, in which "*" matches any text. Name every
// argument that the tool opens: "path,paths,source,target", or "*" for all texts in the arguments. Names are compared
// without case, "_" and "-", because tools decode them in more than one spelling: file_path is also filePath.
//
// If a rule denies or asks, one matching path is enough, and arguments within other arguments count. If a rule allows,
// every path must match, and at least one must be an argument of the tool itself.
//
// Relative paths and globs refer to the working directory, and paths are cleaned before the comparison. For example, in
// the working directory /srv the paths "a/../secret", "./secret" and "/srv/secret" are equal. A glob that begins with
// "**" matches files in any folder. The syntax is that of doublestar: "*" matches any text within a name, "**" any
// number of folders.
//
// Paths follow the rules of the system that the program runs on; [Paths.On] selects another one. Symbolic links are not
// followed, so that a link outside of secret can lead into it; see [Paths.FollowLinks].
//
// If the argument is missing, the predicate does not match. Match returns an error if the argument is not a text, if a
// name occurs twice, and for a path that begins with "~" or "file:/", which some tools replace. A hard link is another
// name of a file, and is not recognized.
func PathGlob(name string, globs ...string) Paths {
	root, err := os.Getwd()
	if err != nil {
		err = fmt.Errorf("the working directory is unknown: %w; use PathGlobUnder", err)
	}
	p := PathGlobUnder(root, name, globs...)
	p.err = err
	return p
}

// PathGlobUnder is like [PathGlob] for tools whose relative paths refer to the directory root instead of the working
// directory. root must be absolute.
func PathGlobUnder(root, name string, globs ...string) Paths {
	return Paths{name: name, root: root, globs: globs, system: runtime.GOOS}
}

// Paths is the predicate that [PathGlob] returns.
type Paths struct {
	root, name string
	globs      []string
	system     string
	follow     bool
	err        error
}

// On returns the predicate for tools that open paths on another system, for example in a container. system is a value
// of GOOS such as "linux".
//
// On windows a backslash separates folders, and on every other system it is a part of a name. On windows and darwin,
// rules that deny or ask compare without case, and rules that allow with case. On windows, Match returns an error for
// shares, devices and other second names of files.
//
// macOS has second names that are not compared: the composed and the decomposed form of a letter such as é, and paths
// below /System/Volumes/Data and /.vol.
func (p Paths) On(system string) Paths {
	p.system = system
	return p
}

// FollowLinks returns the predicate for paths of this machine, with symbolic links followed. A rule that denies then
// compares both the path as written and the file to which it leads, and a rule that allows needs a match of both.
//
// The links are followed when the rule is evaluated. A tool that opens the path later can find another link.
func (p Paths) FollowLinks() Paths {
	p.follow = true
	return p
}

// Check returns an error if the root or a glob is invalid.
func (p Paths) Check() error {
	root := p.slashed(p.root)
	switch {
	case p.err != nil:
		return p.err
	case !p.isRooted(root):
		return fmt.Errorf("the root %q is not an absolute path; give an absolute path", p.root)
	case p.name == "" || len(p.globs) == 0 || slices.Contains(p.globs, ""):
		return errors.New("a glob needs the name of an argument and a pattern; give both")
	case p.follow && p.system != runtime.GOOS:
		return fmt.Errorf("the links of another system (%s) cannot be followed; leave out On or FollowLinks", p.system)
	}
	for _, pattern := range p.globs {
		if !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("the glob %q is invalid; use the syntax of doublestar", pattern)
		}
	}
	return nil
}

// Match reports whether one of the paths matches.
func (p Paths) Match(call agent.ToolCallRequest) (bool, error) {
	globs, fold := p.absolute(), p.system == "windows" || p.system == "darwin"
	for at, err := range p.paths(call) {
		if err != nil || slices.ContainsFunc(at.forms, func(form string) bool { return matchesAny(globs, form, fold) }) {
			return err == nil, err
		}
	}
	return false, nil
}

// MatchEvery reports whether there is at least one path, and all paths match.
func (p Paths) MatchEvery(call agent.ToolCallRequest) (bool, error) {
	globs, top := p.absolute(), false
	for at, err := range p.paths(call) {
		if err != nil || slices.ContainsFunc(at.forms, func(form string) bool { return !matchesAny(globs, form, false) }) {
			return false, err
		}
		top = top || at.top
	}
	return top, nil
}

// A givenPath is a path in the arguments of a call, in all its forms.
type givenPath struct {
	forms []string
	top   bool // an argument of the tool itself
}

// paths yields the paths in the arguments of a call, until an error.
func (p Paths) paths(call agent.ToolCallRequest) iter.Seq2[givenPath, error] {
	return func(yield func(givenPath, error) bool) {
		values, err := toolargs.Values(call, p.name)
		if err != nil {
			yield(givenPath{}, err)
		}
		for _, v := range values {
			for _, text := range v.Texts {
				forms, err := p.forms(text)
				if !yield(givenPath{forms, v.Top}, err) {
					return
				}
			}
		}
	}
}

// matchesAny reports whether a clean, absolute path matches one of the globs.
func matchesAny(globs []string, form string, fold bool) bool {
	if fold {
		form = shorten.FoldCase(form)
	}
	return slices.ContainsFunc(globs, func(glob string) bool {
		if fold {
			glob = shorten.FoldCase(glob)
		}
		if strings.HasPrefix(glob, "**") {
			return doublestar.MatchUnvalidated(glob, strings.TrimPrefix(form, "/"))
		}
		return doublestar.MatchUnvalidated(glob, form)
	})
}

// absolute returns the globs with the root, and if links are followed also the globs of the files to which they lead.
func (p Paths) absolute() (globs []string) {
	root := path.Clean(p.slashed(p.root))
	for _, glob := range p.globs {
		glob = p.slashed(glob)
		if !strings.HasPrefix(glob, "**") && !p.isRooted(glob) {
			glob = strings.TrimSuffix(escapeGlob(root), "/") + "/" + strings.TrimPrefix(glob, "./")
		}
		globs = append(globs, glob)
		if p.follow && !strings.HasPrefix(glob, "**") {
			base, rest := doublestar.SplitPattern(glob)
			if target, err := realpath.Of(base); err == nil {
				globs = append(globs, strings.TrimSuffix(escapeGlob(filepath.ToSlash(target)), "/")+"/"+rest)
			}
		}
	}
	return globs
}

// forms returns the absolute, clean forms of a path: as written and, if links are followed, the file to which it leads.
func (p Paths) forms(text string) ([]string, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("a path contains a zero byte, at which some tools end it")
	}
	clean := p.slashed(text)
	if expanded.MatchString(clean) {
		return nil, errors.New("a path begins with ~ or file:, which some tools replace; write it in full")
	}
	if p.system == "windows" {
		var err error
		if clean, err = p.windowsPath(clean); err != nil {
			return nil, err
		}
	}
	if !p.isRooted(clean) {
		clean = p.slashed(p.root) + "/" + clean
	}
	forms := []string{path.Clean(clean)}
	if !p.follow {
		return forms, nil
	}
	if !filepath.IsAbs(text) {
		text = p.root + string(filepath.Separator) + text
	}
	target, err := realpath.Of(text)
	if err != nil {
		return nil, err
	}
	return append(forms, p.slashed(target)), nil
}

// expanded matches paths that many tools replace before they open a file, as in ~/.ssh/id_rsa and file:///etc/passwd.
var expanded = regexp.MustCompile(`^(?:~[\w.-]*(?:/|$)|(?i:file):/)`)

// slashed returns a path with "/" between folders.
func (p Paths) slashed(text string) string {
	if p.system == "windows" {
		return strings.ReplaceAll(text, `\`, "/")
	}
	return text
}

// isRooted reports whether a path with slashes is absolute.
func (p Paths) isRooted(text string) bool {
	return strings.HasPrefix(text, "/") || p.system == "windows" && hasDrive(text)
}

// windowsPath returns a path without what Windows ignores: dots and blanks at the ends of names.
//
// It returns an error for paths that can be another name of a file: a short name such as SECRET~1, a stream such as
// a.txt::$DATA, a path that depends on the current directory of a drive such as C:a, a device such as NUL, and a path
// that begins with two slashes, as those of shares and \\?\C:\a do.
func (p Paths) windowsPath(slashed string) (string, error) {
	full, drive := slashed, ""
	if hasDrive(slashed) {
		drive, slashed = slashed[:2], slashed[2:]
	} else if root := p.slashed(p.root); strings.HasPrefix(slashed, "/") && hasDrive(root) {
		drive = root[:2]
	}
	names := strings.Split(slashed, "/")
	if strings.ContainsAny(slashed, ":~") || strings.HasPrefix(slashed, "//") || strings.HasPrefix(slashed, "/??/") ||
		slices.ContainsFunc(names, windowsDevice.MatchString) {
		return "", fmt.Errorf("the path %q can be another name of a file; use its plain name", shorten.To(full, 200))
	}
	for i, name := range names {
		if name != "." && name != ".." {
			names[i] = strings.TrimRight(name, ". ")
		}
	}
	return drive + strings.Join(names, "/"), nil
}

// hasDrive reports whether a path with slashes begins with a drive, as in C:/a.
func hasDrive(slashed string) bool {
	return len(slashed) > 2 && slashed[1] == ':' && slashed[2] == '/' && 'a' <= slashed[0]|0x20 && slashed[0]|0x20 <= 'z'
}

// windowsDevice matches a name in a path that is that of a device in any folder, as in C:\a\NUL and com1.txt.
var windowsDevice = regexp.MustCompile(
	`(?i)^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)`)

// escapeGlob returns a glob that matches only the text.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `[\\]`, "*", "[*]", "?", "[?]", "[", "[[]", "{", "[{]", "}", "[}]").Replace(text)
}
