package shell

import (
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// gitValued are the options of git itself whose value is the next word.
var gitValued = kit.Set("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env")

// gitArguments returns the subcommand of git and its arguments, without the options of git itself.
func gitArguments(c *Command) (subcommand string, args []string) {
	if c.Program != "git" {
		return "", nil
	}
	for i := 0; i < len(c.Args); i++ {
		switch arg := c.Args[i]; {
		case gitValued[arg]:
			i++
		case strings.HasPrefix(arg, "-"):
		default:
			return strings.ToLower(arg), c.Args[i+1:]
		}
	}
	return "", nil
}

// hasOption reports whether the arguments before "--" contain an option: a letter, alone or with others, or a long
// name, also shortened or with a value.
func hasOption(args []string, letter string, long ...string) bool {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return false
		case strings.HasPrefix(arg, "--"):
			if slices.ContainsFunc(long, func(l string) bool {
				return name == l || len(name) > 4 && strings.HasPrefix(l, name)
			}) {
				return true
			}
		case letter != "" && len(arg) > 1 && arg[0] == '-' && strings.Contains(arg[1:], letter):
			return true
		}
	}
	return false
}

// rewritesRemote matches git push with force, or one that deletes branches.
func rewritesRemote(c *Command) bool {
	subcommand, args := gitArguments(c)
	if subcommand != "push" && subcommand != "send-pack" || hasOption(args, "n", "--dry-run") {
		return false
	}
	if hasOption(args, "f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--prune") ||
		hasOption(args, "d", "--delete") {
		return true
	}
	plain := 0
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if plain++; plain > 1 && len(arg) > 1 && (arg[0] == '+' || arg[0] == ':') { // +branch forces, :branch deletes
			return true
		}
	}
	return false
}

// discardsWork matches git commands that remove uncommitted changes, stashes, branches or history.
func discardsWork(c *Command) bool {
	subcommand, args := gitArguments(c)
	has := func(words ...string) bool {
		return len(args) > 0 && slices.Contains(words, args[0])
	}
	whole := slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{".", "./", ":/", "*", ":", "..", ":/*", ":/."}, arg)
	})
	switch subcommand {
	case "reset":
		return hasOption(args, "", "--hard", "--merge")
	case "clean":
		return hasOption(args, "f", "--force") && !hasOption(args, "n", "--dry-run")
	case "checkout":
		return hasOption(args, "f", "--force") || whole
	case "rm":
		return whole && !hasOption(args, "n", "--cached", "--dry-run")
	case "switch":
		return hasOption(args, "f", "--force", "--discard-changes")
	case "restore":
		return whole && (!hasOption(args, "S", "--staged") || hasOption(args, "W", "--worktree"))
	case "stash":
		return has("drop", "clear")
	case "branch":
		return hasOption(args, "D") || hasOption(args, "d", "--delete") && hasOption(args, "f", "--force")
	case "filter-branch", "filter-repo":
		return !hasOption(args, "h", "--help", "--analyze", "--dry-run")
	case "reflog":
		return has("expire", "delete")
	case "gc", "prune":
		return hasOption(args, "", "--prune") && slices.ContainsFunc(args, func(arg string) bool {
			return arg == "--prune=now" || arg == "--prune=all" || strings.HasPrefix(arg, "--prune=0")
		})
	case "update-ref":
		return hasOption(args, "d", "--delete")
	case "read-tree":
		return hasOption(args, "", "--reset") && hasOption(args, "u")
	case "checkout-index":
		return hasOption(args, "f", "--force") && hasOption(args, "a", "--all")
	case "submodule":
		return has("deinit") && hasOption(args, "f", "--force")
	case "worktree":
		return has("remove") && hasOption(args, "f", "--force")
	}
	return false
}
