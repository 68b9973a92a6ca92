package shell

import (
	"fmt"
	"path"
	"path/filepath"
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

// DefaultRules returns the default rules of a [Guard]. They deny every forced recursive rm, because the guard does not
// know which directories matter; [WorkspaceRules] does. They also deny rm -r of paths with .git, of paths in a home
// directory and of paths that are known only when the command runs. The caller owns the list and can add or remove
// rules.
func DefaultRules() []Rule { return rules("") }

// WorkspaceRules returns the default rules for commands that run in the directory root, an absolute path. They allow
// removals below root, for example rm -rf node_modules or find build -delete. With or without -f, they deny a recursive
// removal of root itself, of everything in it, of paths with .git, of paths outside, and of paths that are known only
// when the command runs. A plain rm -r of a path in /tmp is allowed.
//
// A path is compared as text, after cd and "..". If root exists on this machine, symbolic links in it are followed, so
// that rm -rf link/x is denied if the link leads out of root. WorkspaceRules panics if root is not absolute.
func WorkspaceRules(root string) []Rule {
	if !path.IsAbs(slashed(root)) && !filepath.IsAbs(root) {
		panic(fmt.Sprintf("shell.WorkspaceRules: the root %q is not an absolute path; give an absolute path", root))
	}
	return rules(root)
}

func rules(root string) []Rule {
	w := workspace(root)
	valued := "recursive rm of a repository, of a path in a home directory or of an unknown path"
	if w != "" {
		valued = "recursive rm outside the workspace"
	}
	return []Rule{
		{"forced recursive rm", "To delete files, name each of them in a plain rm; for a whole directory ask the user.",
			w.removesTree},
		{"recursive rm of a system, home or current directory", "Name the files or directories to delete.",
			removesEverything},
		{valued, "Name the files in a plain rm, or ask the user.", w.removesWithoutAsking},
		{"find that deletes", "List the files with find first, then name those to delete in a plain rm.",
			w.findsAndDeletes},
		{"DROP TABLE or DROP DATABASE", "Ask the user to drop it, or rename it instead.", drops},
		{"SQL that empties a table", "Add a condition, or ask the user.", emptiesTable},
		{"formatting a drive", "Ask the user to format it.", formats},
		{"mkfs", "Ask the user to make the file system.", makesFileSystem},
		{"dd onto a device", "Let of= name a plain file.", copiesOntoDevice},
		{"writing to a disk device", "Write to a plain file.", writesDevice},
		{"download piped into a shell", "Download to a file, read it, and then run it.", runsDownload},
		{"encoded text run as a script", "Write the command as plain text.", runsDecoded},
		{"a connection through /dev/tcp", "Use curl, or another client of the protocol.", connects},
		{"netcat with -e", "Use netcat without a program.", servesShell},
		{"recursive chmod or chown of a system or home directory", "Change the mode of the files that need it.",
			changesModes},
		{"git push that rewrites or deletes remote branches", "Push without force, or to a new branch.", rewritesRemote},
		{"git that discards uncommitted work or history", "Commit or stash the work first, or ask the user.", discardsWork},
		{"stopping the machine", "Ask the user.", stopsMachine},
		{"ending all processes", "Name the process, or end it by its number.", endsEverything},
		{"fork bomb", "Start a fixed number of processes.", forkBomb},
		{"changing who may log in or what starts by itself",
			"Set variables in the command or in a file of the project. Show other changes to the user, who can make them.",
			changesAccess},
		{"giving a program the rights of another user, or switching protection off", "Ask the user.", weakensProtection},
		{"destroying infrastructure or remote data", "Show the plan to the user, who can run the command.",
			destroysRemotely},
	}
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
		return slices.ContainsFunc(c.Args, func(arg string) bool {
			lower := strings.ToLower(arg)
			return strings.HasPrefix(lower, "erase") || strings.HasPrefix(lower, "delete")
		})
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
	case "tee", "shred", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "hdparm", "badblocks", "truncate", "fallocate",
		"fdisk", "gdisk", "cfdisk", "parted", "cryptsetup", "mdadm", "nvme", "tune2fs":
		return slices.ContainsFunc(c.Args, isDevice) && !slices.ContainsFunc(c.Args, readsDevice)
	case "sort", "curl", "wget":
		return slices.ContainsFunc(outputs(c), isDevice)
	case "find", "gfind":
		return slices.ContainsFunc(c.Args, isDevice) && slices.ContainsFunc(c.Args, func(arg string) bool {
			return strings.HasPrefix(arg, "-fprint") || arg == "-fls"
		})
	case "cp", "mv", "install", "ln":
		if slices.Contains(c.Args, "-t") {
			return slices.ContainsFunc(c.Args, isDevice)
		}
		return len(c.Args) > 1 && isDevice(c.Args[len(c.Args)-1])
	}
	return false
}

// readsDevice reports whether an argument makes a program show a device instead of changing it.
func readsDevice(arg string) bool {
	switch arg {
	case "-l", "--list", "-p", "--print", "print", "list", "--detail", "--examine", "status", "isLuks", "luksDump",
		"luksOpen", "open", "smart-log", "id-ctrl", "--dump", "-d":
		return true
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
	"urlopen", "downloadstring", "file_get_contents", "w3m", "axel",
	"iwr", "irm", "invoke-webrequest", "invoke-restmethod", "curlie", "ftp", "scp", "nc", "ncat",
	"netcat")

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
		if slices.ContainsFunc(c.input, isInteractive) {
			return true
		}
	case "socat":
		return slices.ContainsFunc(c.Args, func(arg string) bool {
			lower := strings.ToLower(arg)
			return strings.HasPrefix(lower, "exec:") || strings.HasPrefix(lower, "system:")
		})
	default:
		return interpreters[interpreterOf(c.Program)] && slices.ContainsFunc(append(slices.Clone(c.Args), c.Stdin),
			func(text string) bool {
				return strings.Contains(text, "socket") && (strings.Contains(text, "dup2(") || strings.Contains(text, "pty.spawn"))
			})
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

// isInteractive matches a shell that executes commands as they arrive, as in sh -i.
func isInteractive(c *Command) bool { return shells[c.Program] && hasOption(c.Args, "i") }

// runsDecoded matches programs that run the output of a decoder, as in base64 -d x | sh, or a text of the command line
// that another program changes first.
func runsDecoded(c *Command) bool {
	return slices.ContainsFunc(c.Executes, func(from *Command) bool { return from.concealed })
}

// changesModes matches chmod -R and the like, or chmod with find or xargs, on directories that the system or the user
// needs.
func changesModes(c *Command) bool {
	switch c.Program {
	case "chmod", "chown", "chgrp", "setfacl", "chattr", "icacls", "takeown":
	default:
		return false
	}
	recursive := slices.ContainsFunc(c.Args, func(arg string) bool {
		return len(arg) > 2 && strings.HasPrefix("--recursive", arg) ||
			len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg, "R") || strings.EqualFold(arg, "/t") ||
			strings.EqualFold(arg, "/r")
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
	if c.Program != "find" && c.Program != "gfind" {
		return false
	}
	for _, arg := range c.Args {
		if strings.HasPrefix(arg, "-") || arg == "(" {
			break
		}
		if isVital(arg) {
			return true
		}
	}
	return false
}

// stopsMachine matches commands that stop or restart the machine.
func stopsMachine(c *Command) bool {
	if slices.Contains(c.Writes, "/proc/sysrq-trigger") {
		return true
	}
	switch c.Program {
	case "shutdown", "reboot", "halt", "poweroff", "stop-computer", "restart-computer":
		asks := func(arg string) bool { return arg == "--help" || arg == "--version" || arg == "-c" }
		return !slices.ContainsFunc(c.Args, asks)
	case "init", "telinit":
		return len(c.Args) > 0 && strings.Contains("0 6 s S 1", c.Args[0])
	case "systemctl":
		return slices.ContainsFunc(c.Args, func(arg string) bool {
			return slices.Contains([]string{"poweroff", "reboot", "halt", "kexec", "emergency", "rescue"},
				strings.TrimSuffix(arg, ".target"))
		})
	}
	return false
}

// forks matches scripts of other languages that fork for ever.
var forks = regexp.MustCompile(`fork\s*(\(\))?\s*while\s+(fork|1|true)|` +
	`while\s*\(?\s*(1|true|True)\s*\)?\s*[:{;]?\s*(do\s+)?(os\.)?fork`)

// forkBomb matches a function that starts itself in the background or in a pipeline.
func forkBomb(c *Command) bool {
	return c.forks || interpreters[interpreterOf(c.Program)] && forks.MatchString(strings.Join(c.Args, " "))
}
