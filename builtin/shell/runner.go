package shell

import (
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// runners are programs that run a command after arguments of their own, which are too many to list.
var runners = kit.Set("npx", "bunx", "pnpx", "uvx", "pipx", "poetry", "uv", "pipenv", "pnpm", "yarn", "npm", "conda",
	"mamba", "docker", "docker-compose", "podman", "nerdctl", "kubectl", "oc", "lxc", "vagrant", "systemd-run", "pkexec",
	"gosu", "su-exec", "fakeroot", "firejail", "bwrap", "proot", "hyperfine", "direnv", "dotenv", "nix-shell", "nix",
	"rush", "screen", "tmux", "bundle", "rbenv", "pyenv", "mise", "asdf", "rye", "hatch", "tox", "osqueryi", "at", "batch",
	"distrobox", "toolbox", "flatpak-spawn", "cgexec", "numactl", "prlimit", "setarch", "catchsegv", "valgrind", "gdb",
	"perf", "pv", "rlwrap", "cpulimit", "caffeinate", "xvfb-run", "dbus-run-session", "ld.so", "busctl", "runcon", "sg",
	"newgrp", "linux64", "linux32", "i386", "i686", "x86_64", "choom", "faketime", "dbus-launch", "ip", "logsave",
	"aa-exec", "ssh-agent", "sshpass", "dumb-init", "tini", "chpst", "softlimit", "envdir", "s6-setuidgid", "watchexec",
	"nodemon", "concurrently", "foreman", "ansible", "salt", "adb", "wsl", "start-stop-daemon", "daemonize", "capsh",
	"chronic", "expect", "just", "composer", "op", "aws-vault", "doppler", "chamber", "infisical", "devbox", "pixi",
	"heroku", "fly", "flyctl", "pdsh", "clush", "pssh", "parallel-ssh", "mosh", "knife",
	"fab", "call-process", "start-process", "process-file")

// runner reads the arguments of a runner from each word that is a shell, an interpreter or a dangerous program.
func (r *reader) runner(c *Command, in flow) {
	for i, w := range c.words[1:] {
		program, _, _ := strings.Cut(programOf(w.text), "@") // npx rimraf@5
		if shells[program] || interpreters[interpreterOf(program)] || dangerous[program] ||
			strings.HasPrefix(program, "mkfs") {
			r.command(append([]word{{text: program, glob: w.glob}}, c.words[2+i:]...), in)
			if i == 0 || c.Args[i-1] != "--entrypoint" {
				break
			}
		}
		if !r.strict && !runners[program] && (destroyers[program] != nil || sqlClients[program]) {
			r.command(append([]word{{text: program, glob: w.glob}}, c.words[2+i:]...), in) // or it is the name of a container
		}
		if strings.ContainsAny(w.text, " \t\n") && !strings.HasPrefix(w.text, "-") && !r.strict {
			r.text(w.text) // a command for hyperfine and tmux, a text for others
		}
	}
	if c.Program == "at" || c.Program == "batch" {
		c.executesOutput(in.before)
		for _, text := range c.texts() {
			r.text(text)
		}
	}
}
