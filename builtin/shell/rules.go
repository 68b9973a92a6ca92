package shell

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Rule describes commands that a [Guard] denies, or asks a person about.
type Rule struct {
	Name  string              // appears in the reason, for example "forced or recursive removal"; required
	Hint  string              // an alternative for the model, in one or two sentences
	Ask   bool                // a person may allow the command; false: it is denied
	Match func(*Command) bool // must be safe for concurrent use and must not change the command; required
}

// DefaultRules returns the default rules of a [Guard]. Five deny what nobody wants: to remove or open the system, to
// overwrite a disk, to run a download, to hand a shell or credentials to another machine, and to end all processes. The
// others ask a person: about each forced or recursive removal, because the guard does not know which directories
// matter ([WorkspaceRules] does), and about other commands that cannot be undone. The caller owns the list and can add,
// change or remove rules.
func DefaultRules() []Rule { return rules("") }

// WorkspaceRules returns the default rules for commands that run in the directory root, an absolute path. They do not
// ask about removals below root, for example rm -rf node_modules or find build -delete. With or without -f, they ask
// about a recursive removal of root itself, of everything in it, of paths with .git, of paths outside, and of paths
// that are known only when the command runs. A plain rm -r of a path in /tmp is not asked about.
//
// A path is compared as text, after cd and "..". If root exists on this machine, symbolic links in it are followed, so
// that rm -rf link/x is asked about if the link leads out of root. WorkspaceRules panics if root is not absolute.
func WorkspaceRules(root string) []Rule {
	if !path.IsAbs(slashed(root)) && !filepath.IsAbs(root) {
		panic(fmt.Sprintf("shell.WorkspaceRules: the root %q is not an absolute path; give an absolute path", root))
	}
	return rules(root)
}

func rules(root string) []Rule {
	w := workspace(root)
	return []Rule{
		{"removal or opening of a system, home or current directory", "Name the files or directories to change.", false,
			either(removesEverything, changesModes)},
		{"overwriting or formatting a disk", "Write to a plain file.", false, either(matcher("disk"), writesDevice)},
		{"download or encoded text run as a script", "Download to a file, read it, and then run it.", false, runsUnread},
		{"a shell or credentials for another machine", "Use a client of the protocol, without a program or secrets.", false,
			either(matcher("network"), connects, servesShell, sendsSecrets)},
		{"ending all processes or starting endless ones", "Name the process, or end it by its number.", false,
			either(matcher("processes"), endsEverything)},
		{"forced or recursive removal", "Name the files to delete in a plain rm.", true, w.removes},
		{"emptying or overwriting a file", "Write to a new file, or edit the part that changes.", true,
			either(matcher("empties"), emptiesFile)},
		{"git that discards work or rewrites remote branches", "Commit or stash first, or push to a new branch.", true,
			matcher("git")},
		{"SQL that drops or empties a table", "Add a condition, or rename the table.", true,
			either(matcher("sql"), dropsData)},
		{"stopping the machine, or destroying infrastructure or remote data", "Show the plan first.", true,
			either(matcher("remote"), func(c *Command) bool { return slices.Contains(c.Writes, "/proc/sysrq-trigger") })},
		{"changing who may log in, what starts by itself, or what protects the machine",
			"Set variables in the command or in a file of the project.", true,
			either(matcher("access"), changesAccess, setsUser)},
		{"code that can run programs or remove files", "Run the programs directly.", true,
			func(c *Command) bool { return c.opaque }},
	}
}

// either returns a condition that matches if one of the conditions does.
func either(conditions ...func(*Command) bool) func(*Command) bool {
	return func(c *Command) bool {
		return slices.ContainsFunc(conditions, func(is func(*Command) bool) bool { return is(c) })
	}
}

// runsUnread matches programs that run the output of a downloader or a decoder, as in curl x | sh.
func runsUnread(c *Command) bool {
	return slices.ContainsFunc(c.Executes, func(from *Command) bool {
		return downloaders[from.Program] || from.concealed
	})
}

// endsEverything matches kill -1, pkill of each name or of each program of a user, and fork bombs.
func endsEverything(c *Command) bool {
	if c.Program == "kill" {
		return slices.Contains(c.Args[min(1, len(c.Args)):], "-1") // the first one is a signal
	}
	return c.forks || selectsEverything(c)
}

// selectsUser matches an option with the name of a user, as in -uroot, but no signal such as -USR1.
var selectsUser = regexp.MustCompile(`^(?:-[uU](?:[^A-Z].*)?|--(?:user|euid|uid)(?:=.*)?)$`)

// selectsEverything matches pkill and killall of each name or of each program of a user.
func selectsEverything(c *Command) bool {
	if c.Program != "pkill" && c.Program != "killall" {
		return false
	}
	user := slices.ContainsFunc(c.Args, selectsUser.MatchString)
	names := slices.DeleteFunc(slices.Clone(c.Args), func(arg string) bool { return len(arg) > 1 && arg[0] == '-' })
	all := func(name string) bool { return strings.Trim(name, ".*^+") == "" }
	if c.Program == "killall" {
		return user && len(names) < 2 || hasOption(c.Args, "r", "--regexp") && slices.ContainsFunc(names, all)
	}
	return user && len(names) < 2 || hasOption(c.Args, "v", "--inverse") || slices.ContainsFunc(names, all)
}
