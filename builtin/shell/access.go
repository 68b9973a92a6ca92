package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// accessFile matches the files that say who may log in, what users may do, and what starts with a login or at a time.
var accessFile = regexp.MustCompile(`^/etc/(?:passwd|shadow|gshadow|group|sudoers|crontab|rc\.local|profile|` +
	`bash\.bashrc|environment|ld\.so\.preload|ssh/sshd_config|(?:sudoers|profile|pam|init|cron)\.[a-z]+/.+)$|` +
	`^/var/spool/cron/.+|` +
	`^(?:~[a-z0-9_-]*|\$home|/root|/home/[^/]+|/users/[^/]+)/(?:\.ssh/(?:authorized_keys2?|rc|environment)|` +
	`\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|` +
	`login|config/fish/config\.fish|config/autostart/.+)|library/launchagents/.+)$`)

// isAccessFile reports whether a file in one of the directories is an accessFile. If the directory is unknown, it could
// be the home directory.
func isAccessFile(file string, dirs []string) bool {
	file = strings.ToLower(slashed(file))
	for _, dir := range append([]string{"."}, dirs...) {
		switch {
		case strings.HasPrefix(file, "/"), strings.HasPrefix(file, "~"), strings.HasPrefix(file, "$"):
			dir = ""
		case dir == "?" && accessFile.MatchString(path.Clean("~/.ssh/"+file)):
			return true
		case dir == "?":
			dir = "~/"
		default:
			dir = strings.ToLower(dir) + "/"
		}
		if accessFile.MatchString(path.Clean(dir + file)) {
			return true
		}
	}
	return false
}

// changesAccess matches commands that write or remove an accessFile, or let everybody write it.
func changesAccess(c *Command) bool {
	files := c.changed()
	switch c.Program {
	case "visudo", "chpasswd", "ssh-copy-id":
		return !slices.ContainsFunc([]string{"-c", "--check", "--help"}, func(option string) bool {
			return slices.Contains(c.Args, option)
		})
	case "chmod":
		if slices.ContainsFunc(c.Args, worldWritable.MatchString) {
			files = c.Args
		}
	case "chown", "chgrp":
		files = c.Args
	}
	return slices.ContainsFunc(files, func(file string) bool { return isAccessFile(file, c.dirs) })
}

// changed returns the files that a command writes, replaces or removes, as far as its text names them.
func (c *Command) changed() []string {
	files := slices.Clone(c.Writes)
	switch c.Program {
	case "tee", "truncate", "shred", "rm", "unlink", "mv":
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
		files = append(files, outputs(c)...)
	}
	switch c.Program {
	case "cp", "mv", "install", "ln", "rsync":
		targets := wrapper{script: []string{"-t", "--target-directory"}}.scripts(c.Args, c.Args)
		if len(targets) == 0 {
			targets = c.Args
		}
		if len(targets) == 0 {
			break
		}
		target := targets[len(targets)-1] // a file or a directory
		files = append(files, target)
		for _, arg := range c.Args {
			files = append(files, target+"/"+path.Base(arg))
		}
	}
	return files
}

var (
	worldWritable = regexp.MustCompile(`^[0-7]*[2367]$|(?:^|,)[ugoa]*[oa][ugoa]*[+=][rxXst]*w`)
	setUser       = regexp.MustCompile(
		`^(?:-m|--mode=)?(?:0?[4-7][0-7]{3}$|(?:[^=]*,)?(?:[ugoa]*[ua][ugoa]*)?[+=][rwxXt]*s)`)
	capabilities = regexp.MustCompile(
		`(?i)cap_(?:setuid|setgid|setfcap|dac_override|dac_read_search|sys_admin|sys_module|sys_ptrace)|^(?:all)?[=+]`)
	administrators = kit.Set("sudo", "wheel", "admin", "root")
)

// switchesOff are programs with their subcommands that switch a firewall or another protection off.
var switchesOff = map[string][]string{
	"ufw": {"disable", "reset"}, "iptables": {"-f", "--flush"}, "ip6tables": {"-f", "--flush"},
	"nft": {"flush ruleset"}, "setenforce": {"0", "permissive"}, "spctl": {"--master-disable", "--global-disable"},
	"csrutil": {"disable"}, "passwd": {"-d", "--delete"},
	"systemctl": {"stop firewalld", "disable firewalld", "mask firewalld", "stop ufw", "disable ufw", "stop apparmor",
		"disable apparmor", "stop auditd", "disable auditd"},
}

// weakensProtection matches commands that let a program run with the rights of another user, make a user an
// administrator, or switch a protection of the machine off.
func weakensProtection(c *Command) bool {
	switch c.Program {
	case "chmod", "install":
		for i, arg := range c.Args {
			mode := c.Program == "chmod" && !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "-m") ||
				strings.HasPrefix(arg, "--mode=") || i > 0 && (c.Args[i-1] == "-m" || c.Args[i-1] == "--mode")
			if mode && setUser.MatchString(arg) {
				return true
			}
		}
	case "setcap":
		return !hasOption(c.Args, "r") && slices.ContainsFunc(c.Args, capabilities.MatchString)
	case "usermod", "gpasswd", "adduser":
		return slices.ContainsFunc(c.Args, func(arg string) bool {
			return slices.ContainsFunc(strings.Split(arg, ","), func(group string) bool { return administrators[group] })
		})
	case "useradd":
		return hasOption(c.Args, "o", "--non-unique")
	}
	return slices.ContainsFunc(switchesOff[c.Program], func(words string) bool {
		return c.hasSubcommand(strings.Fields(words))
	})
}
