package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// accessFile matches the files that say who may log in, what users may do, and what starts with a login or at a time.
var accessFile = patterns("access")

// isAccessFile reports whether a file in one of the directories is an accessFile. If the directory is unknown, it could
// be the home directory.
func isAccessFile(file string, dirs []string) bool {
	file = strings.ToLower(slashed(file))
	for _, dir := range append([]string{"."}, dirs...) {
		switch {
		case strings.HasPrefix(file, "/"), strings.HasPrefix(file, "~"), strings.HasPrefix(file, "$"):
			dir = ""
		case dir == "?" && accessFile.MatchString(path.Clean("~/.ssh/"+file)):
			return true
		case dir == "?":
			dir = "~/"
		default:
			dir = strings.ToLower(dir) + "/"
		}
		if accessFile.MatchString(path.Clean(dir + file)) {
			return true
		}
	}
	return false
}

// changesAccess matches commands that write or remove an accessFile, or let everybody write it.
func changesAccess(c *Command) bool {
	files := c.changed()
	if c.Program == "chmod" && slices.ContainsFunc(c.Args, worldWritable.MatchString) || c.Program == "chown" ||
		c.Program == "chgrp" {
		files = c.Args
	}
	return slices.ContainsFunc(files, func(file string) bool { return isAccessFile(file, c.dirs) })
}

// changed returns the files that a command writes, replaces or removes, as far as its text names them.
func (c *Command) changed() []string {
	files := slices.Clone(c.Writes)
	switch c.Program {
	case "tee", "truncate", "shred", "rm", "unlink":
		files = append(files, c.Args...)
	case "sed", "gsed", "perl", "ruby":
		if hasOption(c.Args, "i", "--in-place") {
			files = append(files, c.Args...)
		}
	case "dd":
		for _, arg := range c.Args {
			files = append(files, strings.TrimPrefix(arg, "of="))
		}
	case "curl", "wget", "sort":
		files = append(files, outputs(c)...)
	case "cp", "mv", "install", "ln", "rsync":
		targets := valuesOf(c.Args, "t", "--target-directory")
		if c.Program == "mv" {
			files = append(files, c.Args...)
		}
		if len(targets) == 0 && len(c.Args) > 1 {
			targets = c.Args
		}
		if len(targets) == 0 {
			break
		}
		target := targets[len(targets)-1] // a file or a directory
		files = append(files, target)
		for _, arg := range c.Args {
			files = append(files, target+"/"+path.Base(arg))
		}
	}
	return files
}

var (
	worldWritable = regexp.MustCompile(`^[0-7]*[2367]$|(?:^|,)[ugoa]*[oa][ugoa]*[+=][rxXst]*w`)
	setUser       = regexp.MustCompile(`^(?:0?[4-7][0-7]{3}$|(?:[^=]*,)?(?:[ugoa]*[ua][ugoa]*)?[+=][rwxXt]*s)`)
)

// setsUser matches commands that let a program run with the rights of another user.
func setsUser(c *Command) bool {
	if c.Program != "chmod" && c.Program != "install" {
		return false
	}
	modes := valuesOf(c.Args, "m", "--mode")
	if c.Program == "chmod" {
		modes = append(modes, c.Args...)
	}
	return slices.ContainsFunc(modes, setUser.MatchString)
}
