package claudecode

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/toolname"
)

// rule is the syntax of the field if of a handler: a tool, and perhaps a pattern for its arguments.
var rule = regexp.MustCompile(`^([A-Za-z0-9_*\-]+)(?:\((.*)\))?$`)

// families are the tools that the rules of one tool cover, too. For example, Edit(*.env) is also a rule for Write.
var families = map[string][]string{
	"Edit": {"Write", "MultiEdit", "NotebookEdit"},
	"Read": {"Grep", "Glob", "NotebookRead"},
}

// subjects are the arguments that patterns are compared with, and how.
var subjects = []struct {
	argument string
	covers   func(pattern, value string) bool
}{
	{"command", coversCommand},
	{"file_path", coversFile},
	{"notebook_path", coversFile},
	{"url", coversURL},
}

// applies reports whether the permission rule in the field if covers a call, for example "Bash(git *)". If that is not
// clear, the script runs: a guard that runs for one call too many refuses nothing, and one that does not run is no
// guard.
func (c *handler) applies(tool string, input map[string]any) bool {
	if c.If == "" {
		return true
	}
	parts := rule.FindStringSubmatch(c.If)
	if parts == nil {
		return true
	}
	named, pattern := parts[1], parts[2]
	if !toolname.Wildcard(named, tool) && !slices.Contains(families[named], tool) {
		return false
	}
	if pattern == "" || pattern == "*" {
		return true
	}
	for _, s := range subjects {
		if value, ok := input[s.argument]; ok {
			text, isText := value.(string)
			return !isText || s.covers(pattern, text)
		}
	}
	return true
}

// coversCommand compares a pattern such as "git push *" or "git push:*" with a command. It covers every command that is
// not plain, and ignores the directory of the program.
func coversCommand(pattern, command string) bool {
	if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = prefix + "*"
	}
	if !plain(strings.Trim(command, " ")) {
		return true
	}
	words := strings.Fields(command)
	whole := strings.Join(words, " ")
	if len(words) > 0 {
		words[0] = path.Base(words[0])
	}
	short := strings.Join(words, " ")
	return slices.ContainsFunc([]string{command, whole, whole + " ", short, short + " "}, func(form string) bool {
		return toolname.Wildcard(pattern, form) // the blank is for "ls *" and the command ls
	})
}

// plain reports whether a text is one simple command that begins with the name of its program. For example,
// "CI=1 git push" and "sudo git push" are not, because a rule for git covers them.
func plain(command string) bool {
	name, _, _ := strings.Cut(command, " ")
	return !strings.ContainsAny(command, ";&|$`<>()\t\r\n\\\"'") && !strings.ContainsAny(name, "=!{~*?[") &&
		!slices.Contains(launchers, path.Base(name))
}

// launchers are programs that start the program that their arguments name.
var launchers = []string{"builtin", "chroot", "command", "doas", "env", "eval", "exec", "ionice", "nice", "nohup",
	"setsid", "stdbuf", "sudo", "time", "timeout", "xargs"}

// coversFile compares a pattern with the path of a file. Patterns are those of gitignore. "//etc" begins at the root.
// Others begin at the home directory, the project or any directory, for example "~/.ssh/**", "./.env" and "*.ts". They
// may begin anywhere here, because only the root is known for sure. A directory covers its files.
func coversFile(pattern, file string) bool {
	const unclear = "?[]{}!\\"
	if strings.ContainsAny(pattern, unclear) || strings.HasPrefix(file, "~") || strings.ContainsAny(file, "$\\") {
		return true
	}
	pattern, rooted := strings.CutPrefix(pattern, "//")
	if rooted && !path.IsAbs(file) {
		return true
	}
	for _, start := range []string{"~/", "./", "/"} {
		pattern = strings.TrimPrefix(pattern, start)
	}
	pattern = path.Join("/", strings.ReplaceAll(pattern, "**/", "*"))
	if !rooted {
		pattern = "*" + pattern
	}
	pattern, file = strings.ToLower(pattern), strings.ToLower(path.Join("/", file)) // some systems ignore case
	return toolname.Wildcard(pattern, file) || toolname.Wildcard(strings.TrimSuffix(pattern, "/")+"/*", file)
}

// coversURL compares a pattern such as "domain:example.com" with a URL. It covers the hosts below the domain.
func coversURL(pattern, address string) bool {
	domain, ok := strings.CutPrefix(pattern, "domain:")
	if !ok {
		return toolname.Wildcard(pattern, address)
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return true
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	domain = strings.ToLower(domain)
	return toolname.Wildcard(domain, host) || toolname.Wildcard("*."+domain, host)
}
