package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// endsEverything matches commands that end all processes of the machine or of a user.
func endsEverything(c *Command) bool {
	switch c.Program {
	case "killall5", "slay":
		return true
	case "kill":
		return slices.Contains(killed(c.Args), "-1") || slices.ContainsFunc(c.listed(), selectsEverything)
	case "killall", "pkill":
		return selectsEverything(c)
	case "fuser":
		return hasOption(c.Args, "k", "--kill") && slices.ContainsFunc(c.Args, isVitalTree)
	case "loginctl":
		return c.hasSubcommand([]string{"terminate-user"}) || c.hasSubcommand([]string{"kill-user"})
	case "taskkill", "stop-process":
		return slices.Contains(c.Args, "*")
	}
	return false
}

// killed returns the processes in the arguments of kill, without the signal.
func killed(args []string) []string {
	switch {
	case len(args) > 1 && (args[0] == "-s" || args[0] == "-n" || args[0] == "--signal"):
		return args[2:]
	case len(args) > 0 && strings.HasPrefix(args[0], "-"):
		return args[1:]
	}
	return args
}

// listed returns the commands whose output is in the arguments of a command, as in kill $(pgrep x).
func (c *Command) listed() []*Command {
	list := c.finders()
	for _, w := range c.words {
		list = append(list, w.outputs...)
	}
	return list
}

// selectionValued are the options of pkill, pgrep and killall that have a value. Those in selectionUsers name users;
// those in selectionLimits limit the processes to few.
var (
	selectionUsers  = kit.Set("-u", "-U", "--user", "--euid", "--uid")
	selectionLimits = kit.Set("-P", "-g", "-t", "-F", "-n", "-o", "--parent", "--pgroup", "--terminal", "--pidfile",
		"--newest", "--oldest")
	selectionValued = kit.Set("-s", "-G", "-y", "-Z", "--session", "--group", "--signal", "--ns", "--nslist",
		"--older-than", "--younger-than", "--context")
)

// selectsEverything matches pkill, pgrep and killall for all processes of the machine or of a user.
func selectsEverything(c *Command) bool {
	switch c.Program {
	case "pkill", "pgrep", "killall":
	default:
		return false
	}
	patterns := c.Program != "killall"
	byUser, all, named := false, false, false
	for i := 0; i < len(c.Args); i++ {
		name, _, joined := strings.Cut(c.Args[i], "=")
		switch arg := c.Args[i]; {
		case selectionLimits[name]:
			return false
		case selectionUsers[name] || selectionValued[name]:
			byUser = byUser || selectionUsers[name]
			if !joined {
				i++
			}
		case userSuffix.MatchString(arg):
			byUser = true
		case arg == "-v" && patterns || arg == "--inverse":
			all = true
		case arg == "-r" || arg == "--regexp":
			patterns = true
		case len(arg) > 1 && arg[0] == '-':
		default:
			named = true
			all = all || patterns && matchesEverything(arg)
		}
	}
	return all || byUser && !named
}

// userSuffix matches an option with the name of a user, as in -uroot, but no signal such as -USR1.
var userSuffix = regexp.MustCompile(`^-[uU][^A-Z]`)

// matchesEverything reports whether a pattern matches the names of all processes. A pattern that is known only when the
// command runs does not.
func matchesEverything(pattern string) bool {
	if strings.Contains(strings.TrimSuffix(pattern, "$"), "$") {
		return false
	}
	p, err := regexp.Compile(pattern)
	return err == nil && p.MatchString("systemd") && p.MatchString("bash") && p.MatchString("x")
}
