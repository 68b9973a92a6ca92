package shell

import (
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
