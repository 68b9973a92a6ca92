package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
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

// accessFile matches the files that say who may log in, what users may do, and what starts with a login or at a time.
var accessFile = patterns("access")

// isAccessFile reports whether a file in one of the directories is an accessFile. If the directory is unknown, it could
// be the home directory.
func isAccessFile(file string, dirs []string) bool {
	file = slashed(file)
	if strings.IndexAny(file, "/~$") == 0 {
		return accessFile.MatchString(path.Clean(file))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		if dir == "?" {
			return accessFile.MatchString(path.Clean("~/"+file)) || accessFile.MatchString(path.Clean("~/.ssh/"+file))
		}
		return accessFile.MatchString(path.Clean(dir + "/" + file))
	})
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
		files = append(files, valuesOf(c.Args, "oO", "--output", "--output-document")...)
	case "cp", "mv", "install", "ln", "rsync":
		targets := append(slices.Clone(c.Args[min(1, len(c.Args)):]), valuesOf(c.Args, "t", "--target-directory")...)
		if c.Program == "mv" {
			files = append(files, c.Args...)
		}
		for _, arg := range c.Args[:len(c.Args)*min(1, len(targets))] {
			target := targets[len(targets)-1] // a file or a directory
			files = append(files, target, target+"/"+path.Base(arg))
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
	modes := valuesOf(c.Args, "m", "--mode")
	if c.Program == "chmod" {
		modes = append(modes, c.Args...)
	}
	return (c.Program == "chmod" || c.Program == "install") && slices.ContainsFunc(modes, setUser.MatchString)
}

var (
	dropsOrEmpties = patterns("sql")
	sqlComment     = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
	sqlClients     = set("sqlClients")
)

// dropsData matches a client of a database whose arguments or input drop a table or remove all of its rows.
func dropsData(c *Command) bool {
	return sqlClients[c.Program] && slices.ContainsFunc(append(slices.Clone(c.Args), c.Stdin), func(text string) bool {
		return dropsOrEmpties.MatchString(sqlComment.ReplaceAllString(text, " ")) || dropsOrEmpties.MatchString(text)
	})
}

// throwaway matches the names of files that nobody misses.
var throwaway = patterns("throwaway")

// emptiesFile matches truncate, and redirections that only empty a file, as in : > app.db.
func emptiesFile(c *Command) bool {
	var files []string
	switch c.Program {
	case "truncate":
		if slices.ContainsFunc(valuesOf(c.Args, "s", "--size"), func(size string) bool {
			return strings.IndexAny(size, "0-<") == 0
		}) {
			files = c.Args
		}
	case "", ":", "true":
		files = c.empties
	case "cat", "tee":
		if slices.Equal(c.Args, []string{"/dev/null"}) || slices.Contains(c.Reads, "/dev/null") {
			files = append(slices.Clip(c.empties), c.Args...)
		}
	case "echo", "printf":
		if text := strings.Join(c.Args, " "); text == "" || text == "-n" {
			files = c.empties
		}
	}
	return slices.ContainsFunc(files, func(file string) bool {
		return file != "" && file[0] != '-' && strings.Trim(file, "0123456789KMGTB<>/%-+") != "" &&
			!throwaway.MatchString(file)
	})
}

// secretFile matches the files in which keys and passwords are kept.
var secretFile = patterns("secrets")

var senders = set("senders")

// identities are options whose value is a key that a program uses and does not send.
var identities = kit.Set("-i", "-E", "-e", "--key", "--cert", "--cacert", "-CAfile", "-cert", "-key", "-inkey")

// sendsSecrets matches programs that send a file with secrets, or the variables of the environment, to another machine.
func sendsSecrets(c *Command) bool {
	if !senders[c.Program] || len(c.Args) == 0 {
		return false
	}
	copies := c.Program == "scp" || c.Program == "rsync"
	uploads := copies && strings.Contains(c.Args[len(c.Args)-1], ":")
	sources := slices.Clone(c.input)
	before := ""
	for _, w := range c.words {
		sources = append(sources, w.outputs...)
		sent := uploads && !strings.Contains(w.text, ":") || // not scp host:.netrc x
			!copies && (strings.Contains(w.text, "@") || before == "-T" || before == "--upload-file")
		if sent && !identities[before] && secretFile.MatchString(w.text) {
			return true
		}
		before = w.text
	}
	return slices.ContainsFunc(c.Reads, secretFile.MatchString) || slices.ContainsFunc(sources, readsSecrets)
}

// readsSecrets matches commands that print a file with secrets or the variables of the environment.
func readsSecrets(c *Command) bool {
	if slices.Contains([]string{"env", "printenv", "set", "export"}, c.Program) && (len(c.Args) == 0 ||
		c.Program == "printenv") {
		return true
	}
	return !senders[c.Program] && slices.ContainsFunc(append(slices.Clone(c.Args), c.Reads...), func(file string) bool {
		return secretFile.MatchString(file) && !strings.HasSuffix(file, ".pub")
	})
}

// connects matches a redirection from or to /dev/tcp or /dev/udp.
func connects(c *Command) bool {
	return slices.ContainsFunc(append(slices.Clone(c.Reads), c.Writes...), func(file string) bool {
		return strings.HasPrefix(file, "/dev/tcp/") || strings.HasPrefix(file, "/dev/udp/")
	})
}

// servesShell matches netcat that executes commands as they arrive, as in sh -i | nc host 1.
func servesShell(c *Command) bool {
	return (c.Program == "nc" || c.Program == "ncat") && slices.ContainsFunc(c.input, func(from *Command) bool {
		return shells[from.Program] && hasOption(from.Args, "i")
	})
}
