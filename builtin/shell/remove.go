package shell

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A workspace is the directory in which commands run. They may remove the files below it, or no files if it is "".
type workspace string

// A removal is a parsed rm command.
type removal struct {
	recursive, force bool
	targets          []string
}

var (
	removers = set("removals") // programs that remove files
	trees    = set("trees")    // and directories with everything in them
)

// removalOf parses rm and its equivalents. It reports false for other programs.
func removalOf(c *Command) (m removal, ok bool) {
	_, method, isMethod := strings.Cut(c.Program, ".") // FileUtils.rm_rf of Ruby
	switch {
	case trees[c.Program], isMethod && trees[method]:
		m.targets = slices.DeleteFunc(slices.Clone(c.Args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
		m.recursive, m.force = true, len(m.targets) > 0 && c.Program != "trash"
		return m, true
	case !removers[c.Program] && !c.isUnknown():
		return m, false
	}
	windows := !slices.Contains([]string{"rm", "grm", "srm", "wipe"}, c.Program) && !c.isUnknown()
	for i, arg := range c.Args {
		lower := strings.ToLower(arg)
		option := len(arg) > 1 && arg[0] == '-'
		switch {
		case arg == "--":
			m.targets = append(m.targets, c.Args[i+1:]...)
			return m, true
		case option && (strings.HasPrefix("-recurse", lower) || strings.HasPrefix("--recursive", lower)):
			m.recursive = true
		case option && (strings.HasPrefix("-force", lower) || strings.HasPrefix("--force", lower)):
			m.force = true
		case option && arg[1] != '-' && !windows:
			m.recursive = m.recursive || strings.ContainsAny(arg, "rR")
			m.force = m.force || strings.Contains(arg, "f")
		case option:
		case len(arg) == 2 && arg[0] == '/' && windows:
			m.recursive, m.force = m.recursive || lower == "/s", m.force || lower == "/s"
		default:
			m.targets = append(m.targets, arg)
		}
	}
	return m, true
}

// removes matches each removal that a person should see: find that deletes; a forced recursive rm, in any spelling, of
// something that is not below the workspace; and a recursive one without force, because rm without a terminal asks
// nothing. With a workspace, the last one matches if a path is neither below it nor a temporary file. Without one it
// matches for a repository, for a path in a home directory and for an unknown path.
func (w workspace) removes(c *Command) bool {
	m, ok := removalOf(c)
	switch {
	case w.findsAndDeletes(c):
		return true
	case !ok || !m.recursive:
		return false
	case c.isUnknown():
		return slices.ContainsFunc(c.Args, func(arg string) bool { return strings.EqualFold(arg, "-rf") || arg == "-fr" })
	case m.force && w.leaves(c, m), c.receivesInput() != nil:
		return true
	case len(m.targets) == 0 || c.Program == "trash":
		return false
	case w != "":
		m.targets = slices.DeleteFunc(m.targets, w.isTemporary)
		return len(m.targets) > 0 && w.leaves(c, m)
	}
	return slices.ContainsFunc(m.targets, func(target string) bool {
		return isDynamic(target) ||
			slices.ContainsFunc(c.dirs, func(dir string) bool { return isValued(target, dir) })
	})
}

// leaves reports whether a removal could remove more than files below the workspace.
func (w workspace) leaves(c *Command, m removal) bool {
	if w == "" || len(m.targets) == 0 {
		return true
	}
	return slices.ContainsFunc(m.targets, func(target string) bool {
		if target == "{}" && c.parent != nil && c.parent.Program == "find" {
			return !w.findsBelow(c.parent)
		}
		return !w.isBelow(target, c.dirs)
	})
}

// isTemporary reports whether a path is a file or a directory in /tmp that neither contains the workspace nor is in it.
func (w workspace) isTemporary(target string) bool {
	clean, root := path.Clean(target), path.Clean(slashed(string(w)))
	return strings.HasPrefix(clean, "/tmp/") && !strings.ContainsAny(clean, "$`~*?[{()") && !isValued(clean, ".") &&
		!strings.HasPrefix(root+"/", clean+"/") && !strings.HasPrefix(clean+"/", root+"/")
}

// isValued reports whether a target in a directory is or could be a part of a repository, or a file or a directory in a
// home directory.
func isValued(target, dir string) bool {
	target = slashed(target)
	if dir == "?" && !strings.HasPrefix(target, "/") {
		return true
	}
	if !strings.HasPrefix(target, "/") {
		target = dir + "/" + target
	}
	return valued.MatchString(path.Clean(target))
}

// receivesInput returns the command, such as xargs, that adds words of unknown input to the arguments, or nil.
func (c *Command) receivesInput() *Command {
	for p := c.parent; p != nil; p = p.parent {
		if g := grammars()[p.Program]; g != nil && g.is("appends") && p.Stdin == "" {
			return p
		}
	}
	return nil
}

// removesEverything matches a recursive rm, or mv, of a directory that the system or the user needs.
func removesEverything(c *Command) bool {
	if c.Program == "mv" {
		return slices.ContainsFunc(c.Args[:max(0, len(c.Args)-1)], isVitalTree)
	}
	m, ok := removalOf(c)
	return ok && m.recursive && (slices.ContainsFunc(m.targets, isVital) || slices.ContainsFunc(m.targets, isEverything))
}

var (
	vital      = patterns("vital")
	system     = patterns("system")
	everything = patterns("everything")
	valued     = patterns("valued")
)

// isEverything reports whether a path is the current directory, all files in it, or a directory above it.
func isEverything(target string) bool {
	return everything.MatchString(path.Clean(strings.Trim(target, `"'`)))
}

// isVital reports whether a path is the root, a system directory or something in one, a home directory, or all files in
// one of them.
func isVital(target string) bool {
	return isVitalTree(target) || system.MatchString(path.Clean(slashed(strings.Trim(target, `"'`))))
}

// isVitalTree reports whether a path is the root, a system directory, a home directory, or all files in one of them.
func isVitalTree(target string) bool {
	target = slashed(strings.Trim(target, `"'`))
	return target != "" && (vital.MatchString(target) || vital.MatchString(path.Clean(target)))
}

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// isDynamic reports whether a path is known only when the command runs.
func isDynamic(target string) bool {
	return strings.ContainsAny(target, "$`~") || strings.Contains(target, "()") || target == "{}"
}

// isBelow reports whether a removal of the target leaves the workspace itself and its repository alone, in whichever of
// the directories it runs.
func (w workspace) isBelow(target string, dirs []string) bool {
	if target == "" || isDynamic(target) {
		return false
	}
	root := path.Clean(slashed(string(w)))
	for _, dir := range append([]string{"."}, dirs...) {
		at := target
		switch {
		case strings.HasPrefix(target, "/"):
		case dir == "?":
			return false
		case strings.HasPrefix(dir, "/"):
			at = dir + "/" + target
		default:
			at = root + "/" + dir + "/" + target
		}
		at = path.Clean(at)
		below, ok := strings.CutPrefix(at, strings.TrimSuffix(root, "/")+"/")
		if !ok || below == "" || !w.isRemovable(below) || w.leavesByLink(below) {
			return false
		}
	}
	return true
}

// isRemovable reports whether a path in the workspace is neither the repository nor a pattern that includes it or
// everything.
func (w workspace) isRemovable(below string) bool {
	for i, name := range strings.Split(below, "/") {
		wild := strings.ContainsAny(name, "*?[{")
		switch {
		case strings.EqualFold(name, ".git"), wild && strings.HasPrefix(name, "."):
			return false
		case wild && i == 0 && strings.Trim(name, "*?") == "" && !strings.Contains(below, "/"):
			return false
		}
	}
	return true
}

// leavesByLink reports whether a symbolic link in the path leads out of the workspace. The last name may be a link,
// because rm removes the link itself.
func (w workspace) leavesByLink(below string) bool {
	root, err := filepath.EvalSymlinks(string(w))
	if err != nil {
		return false // the workspace is on another machine
	}
	for dir := path.Dir(below); dir != "."; dir = path.Dir(dir) {
		target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(dir)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		rel, outside := filepath.Rel(root, target)
		return err != nil || outside != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
	}
	return false
}

// deletes are the programs that delete the files of find.
var deletes = kit.Set("rm", "unlink", "shred", "rmdir", "truncate")

// findsAndDeletes matches find with -delete, or with -exec and a program that deletes files, unless it deletes below
// the workspace. It also matches such a program of xargs.
func (w workspace) findsAndDeletes(c *Command) bool {
	switch c.Program {
	case "find", "fd", "fdfind":
		return slices.Contains(c.Args, "-delete") && !w.findsBelow(c)
	}
	if !deletes[c.Program] {
		return false
	}
	finder := slices.IndexFunc(c.finders(), func(p *Command) bool {
		return (p.Program == "find" || p.Program == "fd" || p.Program == "fdfind") && !w.findsBelow(p)
	})
	return c.receivesInput() != nil || finder >= 0
}

// findsBelow reports whether find starts below the workspace, or at the workspace with a test of the name.
func (w workspace) findsBelow(c *Command) bool {
	if w == "" || c.Program != "find" {
		return false
	}
	named := false
	for i, arg := range c.Args {
		switch {
		case slices.Contains([]string{"-o", "-or", "!", "-not", ",", "-L", "-follow"}, arg):
			return false // it finds files with other names, or outside
		case (arg == "-name" || arg == "-iname" || arg == "-path") && i+1 < len(c.Args):
			pattern := c.Args[i+1]
			named = named || strings.Trim(pattern, "*?./") != "" && !strings.EqualFold(pattern, ".git") &&
				!strings.HasPrefix(pattern, ".*")
		}
	}
	starts := startsOf(c)
	return (len(starts) > 0 || named && w.isBelow("x", c.dirs)) && !slices.ContainsFunc(starts, func(start string) bool {
		return !w.isBelow(start, c.dirs) && (!named || !w.isBelow(path.Join(start, "x"), c.dirs))
	})
}
