package shell

import (
	"strings"
	"testing"
)

// Each command runs another program or writes a file, in a way that its words do not show.
var evasions = []string{
	// Settings of git and its subcommands.
	"git -c gc.recentObjectsHook=evil gc", "git config gc.recentObjectsHook evil",
	"git config rename-section foo core", "git config $key evil", "git config core.pager $x",
	"git bisect visualize git -c alias.x=!evil x", "git bisect view bisect run evil", "git bisect view tig",
	"git difftool -t ../../../../tmp/evil x", "git difftool -yt../../evil x", "git difftool --tool=../../evil x",
	"git mergetool --tool=../../evil", "git mergetool -t ../../evil", "git mergetool --toolx=../../evil",
	"git -c diff.tool=../../evil difftool", "git -c merge.guitool=../../evil mergetool -g",
	"git config diff.tool ../../evil", "git filter-repo --blob-callback 'import os'",
	// Other options and values.
	"ssh -J '`evil`@h' x", "ssh -vJ '$(evil)@h' x", "ssh -o 'ProxyJump `evil`@h' x", "ssh -oproxyjump='`evil`' x",
	"scp -J '`evil`@h' x h:y", "sftp -J '`evil`@h' x", "scp -o SmartcardDevice=/tmp/x.so x h:y",
	"man -Tutf8/../../../../tmp/evil ls", "man -aTutf8/../x ls", "man --troff-dev=utf8/../x ls",
	"less -p$'x\\n!evil\\n' f", "less -p'x\n!evil\n' f", "less --pattern='x\n!evil\n' f", "less '-N+!evil' f",
	"less '-x4$+!evil' f", "less '--tabs=4$+!evil' f", "less '-N --cmd=!evil' f", "less -ix4$'\\n' f",
	"wget -e use_ask_pass=evil x", "wget -qeuse-ask-pass=evil x", "wget --execute=u-s-e-a-skpass=evil x",
	"vim --remote-expr 'system(1)'", "go fix -fixtool=evil ./...", "go fix --fixtool evil x",
	"go tool pprof -tools=/tmp x",
	"make -f - <<< 'x:; evil'", "make -f/dev/stdin <<< 'x:; evil'", "make --makefile=- <<< 'x:; evil'",
	"make 'X:=$(shell evil)'", "make X='$(shell evil)' x", "make 'X=`evil`'", "make SHELL=evil", "make .SHELLFLAGS=x",
	"make MAKEFLAGS=--eval=x", `make X="$x"`, "diff3 --diff-prog evil a b c", "sdiff --diff-program=evil a b",
	"apt-get -o APT::Update::Pre-Invoke::=evil update", "apt -yoDir::Bin::dpkg=evil install x", "apt-get -c x update",
	"dpkg --pre-invoke=evil -i x", "gcc -wrapper evil x.c", "gcc -fplugin=x.so x.c", "cc -B. x.c",
	"cargo --config 'build.rustc=\"evil\"' build", "cargo test --config x",
	"pip --python ./evil list", "pip --pyth=evil list",
	"pip config --editor evil edit", "ack --pager=evil x",
	// Commands of programs.
	"ed x <<< '!evil'", "ex x <<< '!evil'", "sftp h <<< '!evil'", "ftp h <<< '!evil'", "dc -e '!evil'",
	"sqlite3 x '.output |evil' 'select 1'", "sqlite3 x '.shell evil'", "sqlite3 x '.sh evil'", "sqlite3 x <<< '.sy evil'",
	"sqlite3 x \"select load_extension('y')\"", "psql -c '\\! evil'", "psql -o '|evil' -c x", "psql -c '\\o |evil'",
	"psql -c \"copy t to program 'evil'\"", "psql -c 'copy t to program $$evil$$'",
	"psql -c '\\echo `evil`'", "mysql -e 'system evil'", "mysql -e '\\! evil'",
	"lftp -e '!evil' h", "socat - exec:evil", "socat TCP-LISTEN:1 SYSTEM:evil", "sysctl -w 'kernel.core_pattern=|/evil'",
	"sysctl kernel.modprobe=/evil", "xdg-user-dir '}; evil #'",
	// Programs that run a command, or have an option for one.
	"nc -e evil h 1", "nc -lvp 1 -e evil", "ncat --sh-exec evil h 1", "fzf --bind 'enter:execute(evil)'", "fzf --listen=1",
	"aria2c --on-download-complete=evil u", "yt-dlp --exec evil u", "mail --exec='!evil' x", "borg list --rsh evil r",
	"restic --password-command=evil backup", "restic -o sftp.command=evil backup", "sshfs -o ssh_command=evil h:x y",
	"certbot renew --pre-hook evil", "dhclient -sf evil", "dnsmasq --conf-script=evil", "openvpn --dev null --up evil",
	"hg --config alias.x='!evil' x", "rpm --eval '%(evil)'", "rpm -E '%(evil)'", "rpm -qa --pipe evil",
	"pdflatex -shell-escape x", "latex --shell-esc x", "dvips -R0 x", "agetty -l evil tty", "pidstat -e evil",
	"setlock x evil", "multitime evil", "distcc evil", "openvt -- evil", "crontab -e",
	// Programs of awk in several lines.
	"awk 'BEGIN{c=\"evil\"; x = 1 \\\n/ 2; c | getline; y = 1 / 2}'",
	"awk 'BEGIN{x = 1 \\\n/ 2; system(\"evil\"); y = 1 / 2}'",
	"awk '# \\\nBEGIN{x = 1 \\\n/ 2; system(\"evil\"); y = 1 / 2}'",
	"awk 'BEGIN{print \"evil\" \\\n > \"out\"}'", "awk 'BEGIN{print 1,\n2 > \"out\"}'",
	"awk 'BEGIN{print 1, # x\n2 > \"out\"}'", "awk 'BEGIN{x = 1/2; print \";\" > \"out\"}'",
	"awk '/\"/ {print 1/2 \";\" > \"out\"}' x",
}

var harmlessNeighbors = []string{
	"git bisect view", "git bisect good HEAD~2",
	"git difftool -t vimdiff HEAD", "git difftool --tool=meld x", "git mergetool -t vimdiff", "git mergetool -y x",
	"git -c diff.tool=vimdiff difftool", "git config diff.tool vimdiff", "git config user.name x", "git config get x.y",
	"git config --get \"$key\"", "git config --list", "git -c gc.auto=0 fetch",
	"ssh-add -l", "scp -J jump.example.org x h:y", "scp -J me@jump:22,other x h:y", "sftp -o ProxyJump=me@jump h",
	"man -Tutf8 ls", "man -T ls", "less -x4 f", "less -p 'a b' f", "less -RFX f", "less -N +/x f", "less --tabs=4 f",
	"wget -e robots=off x", "wget -e 'user_agent=x' y", "vim --version x", "go fix ./...", "go tool pprof -top x",
	"make -j4 test", "make CC=clang 'CFLAGS=-O2 -g'", "make -f x.mk all", "make V=1", "make -C x -k",
	"make PREFIX=/usr install",
	"diff3 a b c", "sdiff -w 80 a b", "apt-get install -y x", "apt list --installed", "apt-cache search x", "dpkg -l x",
	"dpkg --get-selections x", "gcc -O2 -Wall -o x x.c", "gcc -fPIC -shared -o x.so x.c -lm", "cc -c -I. -DX=B x.c",
	"g++ -std=c++20 -fsanitize=address x.cc", "cargo test --release", "cargo build -p x", "pip install -r x.txt",
	"pip install -e .",
	"gcc *.c -o x", "pip install $x", "pip list --outdated", "pip show x", "ack -i x",
	"sqlite3 x 'select a || b from c where d != 1'", "sqlite3 x .schema", "sqlite3 x '.mode csv' 'select 1'",
	"sqlite3 -header -csv x 'select 1'", "psql -c 'select a || b from c where d != 1'", "psql -d x -c '\\dt'",
	"nc -zv h 22", "fzf --bind ctrl-a:select-all", "aria2c -x 4 u", "yt-dlp -f best u", "mail -s x y", "borg list r",
	"restic -r x snapshots", "sshfs -o reconnect h:x y", "certbot renew --dry-run", "hg log -l 3", "rpm -qa", "rpm -qi x",
	"pdflatex -interaction=nonstopmode x", "dvips -o x.ps x", "crontab -l", "sysctl -a", "sysctl kernel.core_pattern",
	"lftp -e 'get x; bye' h", "socat - TCP:h:80", "xdg-user-dir DOWNLOAD",
	"psql -o out.txt -c 'select 1'", "mysql -e 'show tables' x", "ed x <<< ',p'", "sftp h <<< 'get x'",
	"awk '{print $1/2} END {if (n > 3) print n}' x", "awk '{print $1,\n $2}' x", "awk '{s += $1 / 2}\nEND {print s}' x",
	"awk 'NR > 1 {print $1}\n/x/ {print}' x", "awk '{ print $1 }\n$2 > 5 { n++ }' x",
}

func TestCommandsInValuesAreNotAllowed(t *testing.T) {
	for _, command := range evasions {
		t.Run(command, func(t *testing.T) {
			program, _, _ := strings.Cut(command, " ")
			if coveredBy(t, command, program) {
				t.Error("the rule allows it")
			}
		})
	}
}

func TestHarmlessValuesAreAllowed(t *testing.T) {
	for _, command := range harmlessNeighbors {
		t.Run(command, func(t *testing.T) {
			program, _, _ := strings.Cut(command, " ")
			if !coveredBy(t, command, program) {
				t.Error("the rule refuses it")
			}
		})
	}
}
