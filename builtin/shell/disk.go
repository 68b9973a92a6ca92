package shell

import (
	"path"
	"slices"
	"strings"
)

var (
	writers     = set("writers")     // programs that write to a device in their arguments
	shows       = set("shows")       // arguments that make one show it instead
	safeDevices = set("safeDevices") // files and folders under /dev that are not disks
)

// writesDevice matches a redirection to a disk, and programs that write to one.
func writesDevice(c *Command) bool {
	files := slices.Clone(c.Writes)
	if writers[c.Program] && !slices.ContainsFunc(c.Args, func(arg string) bool { return shows[arg] }) {
		files = append(files, c.Args...)
	} else {
		files = append(files, c.changed()...)
	}
	return slices.ContainsFunc(files, isDevice)
}

// isDevice reports whether a file could be a disk device.
func isDevice(file string) bool {
	clean := path.Clean(strings.ToLower(file))
	if strings.HasPrefix(clean, `\\.\physicaldrive`) {
		return true
	}
	for strings.HasPrefix(clean, "//") {
		clean = clean[1:]
	}
	name, ok := strings.CutPrefix(clean, "/dev/")
	first, _, _ := strings.Cut(name, "/")
	return ok && !safeDevices[first] && !strings.HasPrefix(name, "tty")
}

// changesModes matches chmod -R and the like, or chmod with find or xargs, on directories that the system or the user
// needs.
func changesModes(c *Command) bool {
	if !slices.Contains([]string{"chmod", "chown", "chgrp", "setfacl", "chattr", "icacls", "takeown"}, c.Program) {
		return false
	}
	recursive := hasOption(c.Args, "R", "--recursive") || slices.ContainsFunc(c.Args, func(arg string) bool {
		return strings.EqualFold(arg, "/t") || strings.EqualFold(arg, "/r")
	})
	return recursive && slices.ContainsFunc(c.Args, isVital) || slices.ContainsFunc(c.finders(), findsInVital)
}

// finders returns the commands that run a command, and those whose output xargs appends to its arguments.
func (c *Command) finders() (list []*Command) {
	for p := c.parent; p != nil; p = p.parent {
		list = append(list, p)
	}
	if p := c.receivesInput(); p != nil {
		list = append(list, p.input...)
	}
	return list
}

// findsInVital matches find in a directory that the system or the user needs.
func findsInVital(c *Command) bool {
	return c.Program == "find" && slices.ContainsFunc(startsOf(c), isVital)
}

// startsOf returns the directories in which find searches.
func startsOf(c *Command) []string {
	end := slices.IndexFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, "-") || arg == "(" })
	if end < 0 {
		return c.Args
	}
	return c.Args[:end]
}
