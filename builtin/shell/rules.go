package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A Rule describes commands that a [Guard] denies.
type Rule struct {
	Name  string              // appears in the reason, for example "forced recursive rm"; required
	Hint  string              // an alternative for the model, in one or two sentences
	Match func(*Command) bool // must be safe for concurrent use and must not change the command; required
}

// DefaultRules returns the default rules of a [Guard]. The caller owns the list and can add or remove rules.
func DefaultRules() []Rule {
	return []Rule{
		{"forced recursive rm", "To delete files, name each of them in a plain rm; for a whole directory ask the user.",
			removesTree},
		{"find that deletes", "List the files with find first, then name those to delete in a plain rm.", findsAndDeletes},
		{"DROP TABLE or DROP DATABASE", "Ask the user to drop it, or rename it instead.", drops},
		{"formatting a drive", "Ask the user to format it.", formats},
		{"mkfs", "Ask the user to make the file system.", makesFileSystem},
		{"dd onto a device", "Let of= name a plain file.", copiesOntoDevice},
		{"writing to a disk device", "Write to a plain file.", writesDevice},
		{"download piped into a shell", "Download to a file, read it, and then run it.", runsDownload},
		{"a connection through /dev/tcp", "Use curl, or another client of the protocol.", connects},
		{"netcat with -e", "Use netcat without a program.", servesShell},
	}
}

// removesTree matches rm with -r and -f in any spelling, and its equivalents on Windows.
func removesTree(c *Command) bool {
	switch c.Program {
	case "rm", "remove-item", "ri", "del", "erase", "rd", "rmdir":
	default:
		return false
	}
	recursive, force, tree := false, false, false
	for _, arg := range c.Args {
		lower := strings.ToLower(arg)
		switch {
		case arg == "--":
			return recursive && force || tree
		case len(lower) > 1 && (strings.HasPrefix("-recurse", lower) || strings.HasPrefix("--recursive", lower)):
			recursive = true
		case len(lower) > 1 && (strings.HasPrefix("-force", lower) || strings.HasPrefix("--force", lower)):
			force = true
		case c.Program == "rm" && len(arg) > 1 && arg[0] == '-' && arg[1] != '-':
			recursive = recursive || strings.ContainsAny(arg, "rR")
			force = force || strings.Contains(arg, "f")
		case lower == "/s" && c.Program != "rm":
			tree = true
		}
	}
	return recursive && force || tree
}

// findsAndDeletes matches find with -delete, or with -exec and a program that deletes files.
func findsAndDeletes(c *Command) bool {
	if c.Program != "find" {
		return false
	}
	for i, arg := range c.Args {
		switch arg {
		case "-delete":
			return true
		case "-exec", "-execdir", "-ok", "-okdir":
			if i+1 < len(c.Args) && slices.Contains([]string{"rm", "unlink", "shred"}, programOf(c.Args[i+1])) {
				return true
			}
		}
	}
	return false
}

var (
	dropStatement = regexp.MustCompile(`(?i)\bdrop\s+(table|database|schema)\b`)
	sqlComment    = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*`)
	sqlClients    = kit.Set("psql", "mysql", "mariadb", "sqlite", "sqlite3", "duckdb", "sqlcmd", "sqlplus",
		"clickhouse-client", "clickhouse",
		"cockroach", "snowsql", "usql", "isql", "bq", "trino", "presto", "hive", "beeline", "impala-shell", "spark-sql",
		"mycli", "pgcli", "litecli")
)

// drops matches the SQL statement, or a database client whose arguments or input contain it.
func drops(c *Command) bool {
	switch {
	case c.Program == "dropdb":
		return true
	case c.Program == "drop":
		return dropStatement.MatchString("drop " + strings.Join(c.Args, " "))
	case c.Program == "mysqladmin":
		return slices.ContainsFunc(c.Args, func(arg string) bool { return strings.EqualFold(arg, "drop") })
	case sqlClients[c.Program]:
		for _, text := range append(slices.Clone(c.Args), c.Stdin) {
			if dropStatement.MatchString(sqlComment.ReplaceAllString(text, " ")) || dropStatement.MatchString(text) {
				return true
			}
		}
	}
	return false
}

// formats matches programs that format a drive.
func formats(c *Command) bool {
	drive := func(arg string) bool {
		return len(arg) >= 2 && arg[1] == ':' && ('a' <= arg[0] && arg[0] <= 'z' || 'A' <= arg[0] && arg[0] <= 'Z')
	}
	switch c.Program {
	case "format", "format.com":
		return slices.ContainsFunc(c.Args, drive)
	case "format-volume", "clear-disk", "diskpart":
		return true
	case "diskutil":
		return len(c.Args) > 0 && strings.HasPrefix(strings.ToLower(c.Args[0]), "erase")
	}
	return false
}

// makesFileSystem matches mkfs and its variants.
func makesFileSystem(c *Command) bool {
	return c.Program == "mkfs" || strings.HasPrefix(c.Program, "mkfs.") || strings.HasPrefix(c.Program, "newfs") ||
		slices.Contains([]string{"mke2fs", "mkswap", "mkntfs", "mkdosfs"}, c.Program)
}

// copiesOntoDevice matches dd with a device as output, for example of=/dev/sda.
func copiesOntoDevice(c *Command) bool {
	return (c.Program == "dd" || c.Program == "dcfldd" || c.Program == "pv") &&
		slices.ContainsFunc(c.Args, func(arg string) bool {
			file, ok := strings.CutPrefix(arg, "of=")
			return ok && isDevice(file)
		})
}

// writesDevice matches a redirection to a device, and programs that write to a device in their arguments.
func writesDevice(c *Command) bool {
	if slices.ContainsFunc(c.Writes, isDevice) {
		return true
	}
	switch c.Program {
	case "tee", "shred", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "hdparm", "badblocks", "truncate", "fallocate":
		return slices.ContainsFunc(c.Args, isDevice)
	case "cp", "mv", "install", "ln":
		return len(c.Args) > 1 && isDevice(c.Args[len(c.Args)-1])
	}
	return false
}

// safeDevices are files under /dev that are not disks.
var safeDevices = kit.Set("null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "console",
	"ptmx")

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
	if !ok || safeDevices[name] {
		return false
	}
	directory, _, _ := strings.Cut(name, "/")
	return !slices.Contains([]string{"fd", "pts", "shm", "tcp", "udp", "mqueue"}, directory) &&
		!strings.HasPrefix(name, "tty")
}

var downloaders = kit.Set("curl", "wget", "wget2", "fetch", "aria2c", "http", "https", "httpie", "xh", "lwp-download",
	"lwp-request", "get", "lynx", "links",
	"w3m", "axel", "iwr", "irm", "invoke-webrequest", "invoke-restmethod", "curlie", "ftp", "scp", "nc", "ncat", "netcat")

// runsDownload matches programs that run the output of a downloader, as in curl x | sh.
func runsDownload(c *Command) bool {
	return slices.ContainsFunc(c.Executes, func(from *Command) bool { return downloaders[from.Program] })
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
	case "socat":
		return slices.ContainsFunc(c.Args, func(arg string) bool {
			lower := strings.ToLower(arg)
			return strings.HasPrefix(lower, "exec:") || strings.HasPrefix(lower, "system:")
		})
	default:
		return false
	}
	for _, arg := range c.Args {
		switch {
		case strings.HasPrefix(arg, "--exec"), strings.HasPrefix(arg, "--sh-exec"), strings.HasPrefix(arg, "--lua-exec"):
			return true
		case strings.HasPrefix(arg, "--"):
		case len(arg) > 1 && arg[0] == '-' && strings.Contains(arg, "e"):
			return true
		}
	}
	return false
}
