package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

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
	case "cat", "cp", "tee":
		if len(c.Args) == 1 && c.Args[0] == "/dev/null" || slices.Contains(c.Reads, "/dev/null") {
			files = append(slices.Clip(c.empties), c.Args...)
		}
	case "echo", "printf":
		if len(c.Args) == 0 || len(c.Args) == 1 && (c.Args[0] == "-n" || c.Args[0] == "") {
			files = c.empties
		}
	case "dd":
		if slices.Contains(c.Args, "if=/dev/null") {
			files = c.changed()
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
	switch c.Program {
	case "env", "printenv", "set", "export":
		return len(c.Args) == 0 || c.Program == "printenv"
	}
	return !senders[c.Program] && slices.ContainsFunc(append(slices.Clone(c.Args), c.Reads...), func(file string) bool {
		return secretFile.MatchString(file) && !strings.HasSuffix(path.Base(file), ".pub")
	})
}

// connects matches a redirection from or to /dev/tcp or /dev/udp.
func connects(c *Command) bool {
	return slices.ContainsFunc(append(slices.Clone(c.Reads), c.Writes...), func(file string) bool {
		return strings.HasPrefix(file, "/dev/tcp/") || strings.HasPrefix(file, "/dev/udp/")
	})
}

// servesShell matches netcat or socat with a program that they connect to the network.
func servesShell(c *Command) bool {
	switch c.Program {
	case "nc", "ncat", "netcat", "nc.traditional", "nc.openbsd":
		return hasOption(c.Args, "e", "--exec", "--sh-exec", "--lua-exec") ||
			slices.ContainsFunc(c.input, func(from *Command) bool {
				return shells[from.Program] && hasOption(from.Args, "i") // sh -i executes commands as they arrive
			})
	case "socat":
		return slices.ContainsFunc(c.Args, func(arg string) bool {
			lower := strings.ToLower(arg)
			return strings.HasPrefix(lower, "exec:") || strings.HasPrefix(lower, "system:")
		})
	}
	return false
}
