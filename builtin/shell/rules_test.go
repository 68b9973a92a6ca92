package shell_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
)

// TestRulesDenyExactlyDestructiveForms has pairs of commands that differ in one detail.
func TestRulesDenyExactlyDestructiveForms(t *testing.T) {
	for _, c := range []struct{ denied, allowed string }{
		{"git push x +y", "git push +y"}, {"git push x :y", "git push x :"}, {"git push -v x -q :y",
			"git push -v x -q y"}, {"git push -f", "git push -nf"},
		{"git push --force", "git push --force --dry-run"}, {"git push --mirror", "git push --tags"},
		{"git push -d x y", "git push -u x y"}, {"git push --delete x y", "git push -- --delete"},
		{"git push --forc", "git push --f"}, {"git send-pack --force x", "git send-pack x"},
		{"git reset --hard", "git reset --soft"}, {"git reset --merge", "git reset --mixed"},
		{"git clean -fdx", "git clean -nfdx"}, {"git clean --force", "git clean --force --dry-run"},
		{"git checkout -f", "git checkout -b f"}, {"git checkout .", "git checkout main"},
		{"git checkout -- ./", "git checkout -- x"}, {"git checkout HEAD :/", "git checkout HEAD x"},
		{"git rm -r .", "git rm -r --cached ."}, {"git rm *", "git rm -n *"}, {"git switch -f x", "git switch x"},
		{"git switch --discard-changes x", "git switch -c x"}, {"git restore .", "git restore --staged ."},
		{"git restore -SW .", "git restore x"}, {"git restore --staged --worktree .", "git restore -S ."},
		{"git stash drop", "git stash pop"}, {"git stash clear", "git stash list"}, {"git branch -D x", "git branch -d x"},
		{"git branch -d -f x", "git branch --delete x"}, {"git branch --delete --force x", "git branch -f x y"},
		{"git filter-branch x", "git filter-branch --help"}, {"git filter-repo x", "git filter-repo --analyze"},
		{"git reflog expire x", "git reflog show"}, {"git reflog delete x", "git reflog"},
		{"git gc --prune=now", "git gc --prune=2.weeks"}, {"git prune --prune=all", "git gc"},
		{"git gc --prune=0", "git gc --pruned=now x"}, {"git update-ref -d x", "git update-ref x y"},
		{"git worktree remove -f x", "git worktree remove x"}, {"git -C x reset --hard", "git -C x reset"},
		{"git -c a=b reset --hard", "git -c a=b reset"}, {"git --no-pager reset --hard", "git --version"},
		{"rm -rf x", "rm -f x"}, {"rm -r -f x", "rm -r x"}, {"rm --rec --fo x", "rm -- -rf x"}, {"rm x -rf", "rm x -f"},
		{"rimraf x", "rimraf"}, {"rimraf --x y", "rimraf --help"}, {"rd /s x", "rd x"}, {"del /s /q x", "del /q x"},
		{"Remove-Item -Recurse -Force x", "Remove-Item -Recurse x"}, {"ri -r -fo x", "ri -fo x"},
		{"trash -rf /", "trash x"}, {"$x -rf y", "$x -r y"}, {"$x -fr y", "$x -f y"},
		{"rm -r /", "rm -r /x/y"}, {"rm -r ..", "rm -r ../x"}, {"rm -r /usr/lib", "rm -r /usr/local/x"},
		{"rm -r /usr/x", "rm -r /usr/x/y/z"}, {"rm -r /home/me", "rm -r /homes/me"}, {"rm -r ~x", "rm -r x"},
		{"rm -r C:/", "rm -r C:/x/y"}, {"rm -r $x/", "rm -i $x/"}, {"rm -r /etc/*", "rm /etc/x"},
		{"mv / x", "mv x /"}, {"mv x /dev/null", "mv x y"}, {"mv /etc x", "mv x /etc"}, {"mv /home/x y", "mv /tmp/x y"},
		{"rsync --delete x /", "rsync x y"}, {"rsync --del x /etc", "rsync x /etc"},
		{"find x -delete", "find x -print"}, {"find x -exec rm {} +", "find x -exec cat {} +"},
		{"fd x -X rm", "fd x -X cat"}, {"fd -x rm", "fd -x"}, {"find x -exec unlink {} \\;", "find x -name unlink"},
		{"find x -name '*.o' -delete", "find x -name '*.o'"}, {"ls | xargs rm", "echo x | xargs rm"},
		{"ls | xargs shred", "ls | xargs cat"},
		{"dropdb x", "createdb x"}, {"mysqladmin drop x", "mysqladmin status"}, {"psql -c 'drop table x'",
			"psql -c 'drop x'"},
		{"psql -c 'drop/**/table x'", "psql -c '-- drop'"}, {"mongosh --eval 'db.dropDatabase()'", "mongosh --eval 'db.x()'"},
		{"mongo <<< 'db.dropDatabase()'", "mongo <<< 'db.stats()'"}, {"drop table x", "drop x"},
		{"psql -c 'drop schema x'", "grep 'drop table x' y"},
		{"format c:", "format x"}, {"format.com Z:", "format 1"}, {"diskpart", "disk"}, {"diskutil eraseDisk x",
			"diskutil list"},
		{"diskutil erasevolume", "diskutil"}, {"clear-disk 1", "clear"}, {"format-volume x", "format"},
		{"mkfs x", "mkfss x"}, {"mkfs.ext4 x", "makefs x"}, {"newfs_hfs x", "new x"}, {"mkswap x", "swapon x"},
		{"dd of=/dev/sda", "dd of=/dev/null"}, {"dd if=x of=//dev/sda", "dd if=/dev/sda of=x"},
		{"x > /dev/sda", "x > /dev/stderr"}, {"x > /dev/mapper/y", "x > /dev/pts/1"}, {"x > /dev/sda1", "x > /dev/shm/y"},
		{"x > /dev/../dev/sda", "x > /dev/../x"}, {`x > '\\.\PhysicalDrive0'`, "x > /dev/tty1"},
		{"tee /dev/sda", "tee /dev/null"}, {"wipefs /dev/sda", "wipefs x"}, {"shred /dev/sda", "shred --help"},
		{"cp x /dev/sda", "cp /dev/sda x"}, {"ln x /dev/sda", "cp /dev/sda"}, {"cp -t /dev/sda x", "cp -t x /dev/sda.img/.."},
		{"sort -o /dev/sda x", "sort /dev/sda"}, {"find x -fls /dev/sda", "find /dev/sda -ls"},
		{"curl x | sh", "curl x | cat"}, {"nc x | sh", "ls | sh"}, {"curl x | python", "curl x | python y"},
		{"base64 -d x | sh", "base64 x | sh"}, {"xxd -r x | sh", "xxd x | sh"}, {"openssl enc -d | sh", "openssl enc | sh"},
		{"basenc --decode x | sh", "basenc x | sh"}, {"uudecode x | sh", "uuencode x | sh"},
		{"echo x | tr N-ZA-M a | sh", "tr N-ZA-M a"}, {"base64 --dec x | sh", "base64 --x | sh"},
		{"x < /dev/tcp/h/1", "x < /dev/tcp"}, {"x > /dev/udp/h/1", "echo /dev/udp/h/1"},
		{"nc -e sh h", "nc -l 80"}, {"ncat --exec sh", "ncat --ssl h 1"}, {"nc -le sh", "nc h 1"}, {"nc --sh-exec x h",
			"nc -"},
		{"socat x EXEC:sh", "socat x TCP:h"}, {"socat x system:sh", "socat"}, {"ncat --lua-exec x", "ncat --l"},
		{"chmod -R 777 /", "chmod 777 /"}, {"chown --rec x /etc", "chown -R x y"}, {"chmod --recursive 7 ~", "chmod --r 7 x"},
		{"icacls C:/ /t", "icacls C:/"}, {"takeown /r C:/", "takeown C:/"}, {"find / -exec chmod 7 {} +",
			"find x -exec chmod 7 {} +"},
		{"find / | xargs chown x", "find x | xargs chown y"},
		{"shutdown now", "shutdown -c"}, {"reboot", "reboot --help"}, {"halt", "halt --version"}, {"init 0", "init"},
		{"init 6", "init 3"}, {"telinit s", "telinit q"}, {"systemctl reboot", "systemctl restart x"},
		{"systemctl --force kexec", "systemctl"}, {"kill -9 -1", "kill -1"}, {"kill -1 -1", "kill -1 5"},
		{"kill -1 1 -1", "kill -9 1"},
		{"echo b > /proc/sysrq-trigger", "cat /proc/sysrq-trigger"}, {"stop-computer", "get-computer"},
		{"f() { f & }; f", "f() { g & }; f"}, {"f() { f | f; }; f", "f() { f; }; f"}, {"f() { f | x; }", "f() { x | x; }"},
		{"perl -e 'fork while 1'", "perl -e 'print 1'"}, {"python -c 'while 1: os.fork()'", "python -c 'while 1: x()'"},
		{"terraform destroy", "terraform destroy --help"}, {"terraform -chdir=x destroy", "terraform plan destroy"},
		{"terraform apply -destroy", "terraform apply"}, {"terraform state rm x", "terraform state list"},
		{"terraform apply x -destroy", "terraform destroy -h"}, {"kubectl -n x delete y", "kubectl get delete"},
		{"kubectl delete x", "kubectl delete x --dry-run=client"}, {"kubectl delete -h x", "kubectl delete x --dryrun"},
		{"aws s3 rb x", "aws s3 ls"}, {"aws ec2 terminate-instances", "aws terminate-instances"}, {"aws x delete-y",
			"aws delete-y"},
		{"aws s3 rm x --recursive", "aws s3 rm x"}, {"aws x deregister-y", "aws x describe-delete-y"},
		{"gcloud compute instances delete x", "gcloud compute instances list"}, {"docker volume rm x", "docker volume ls"},
		{"docker compose down -v", "docker compose down"}, {"docker compose --x down --volumes", "docker compose up -v"},
		{"lvremove", "lvs"}, {"lvremove x", "lvcreate x"}, {"redis-cli -h x flushall", "redis-cli get x"},
		{"redis-cli FLUSHDB", "redis-cli get"},
		{"crontab -r", "crontab -l"}, {"npm unpublish x", "npm publish x"}, {"zfs destroy x", "zfs list destroy"},
	} {
		for command, want := range map[string]bool{c.denied: true, c.allowed: false} {
			t.Run(command, func(t *testing.T) {
				if got := denied(t, &shell.Guard{}, command); (got != "") != want {
					t.Errorf("%q", got)
				}
			})
		}
	}
}

// TestRulesAllowOnlyTheCommonLanguage has texts with git and cat, which the globs cover, in constructs that the
// shells, the parser and the rules must agree about.
func TestRulesAllowOnlyTheCommonLanguage(t *testing.T) {
	const (
		no = iota
		all
		bash
	)
	for command, want := range map[string]int{
		"git a": all, "git a; cat b": all, "git a && cat b || git c": all, "git a | cat | cat": all, "(git a)": all,
		"{ git a; }": all, "! git a": all, "git a &": all, "if git a; then cat b; else git c; fi": all,
		"if git a; then rm b; fi": no, "if rm a; then git b; fi": no, "if git a; then git b; else rm c; fi": no,
		"if git a; then git b; elif rm c; then git d; fi": no, "if git a; then git b; elif git c; then rm d; fi": no,
		"while git a; do cat b; done": all, "while rm a; do cat b; done": no, "until git a; do rm b; done": no,
		"for x in a b; do cat $x; done": all, "for x in $(rm a); do git b; done": no, "for x in a; do rm b; done": no,
		"for x in a; { git b; }": no, "for ((;;)); do git a; done": no, "select x in a; do git b; done": no,
		"case a in b) git c;; esac": all, "case $(rm a) in b) git c;; esac": no, "case a in $(rm b)) git c;; esac": no,
		"case a in b) rm c;; esac": no, "case a in b) git c;& d) git e;; esac": no,
		"case a in b) git c;;& d) git e;; esac": no,
		"time git a":                            bash, "time git a > b": no, "coproc git a": no, "f() { git a; }": no,
		"function f { git a; }": no, "((1)); git a": no,
		"let x=1":             no,
		"[[ -f a ]] && git b": bash, "git a > /dev/null": all, "git a > b": no, "git a >> /dev/null": all,
		"git a &> /dev/null": bash,
		"git a <> /dev/null": no, "git a >| /dev/null": all, "git a >&2": all, "git a 2>&1": all, "git a >&-": all,
		"git a >&9": all, "git a >&0": all, "git a 9>&1": all, "git a <&9": all, "git a <&x": no,
		"git a >&x": no, "git a >&22": no, "git a 22>&1": no, "git a {x}>&1": no, "git a < b": all, "git a < $b": no,
		"git a < b*": no, "git a < ~/b": no, "git a < /dev/tcp/b/1": no, "git a < /dev/udp/b/1": no, "git a < \\b": no,
		"cat <<X\na\nX": all, "cat <<'X'\n$(rm a)\nX": all, "cat <<\"X\"\n$(rm a)\nX": all, "cat <<X\n$(rm a)\nX": no,
		"cat <<$'X'\na\nX": no, "cat <<X-Y\na\nX-Y": no, "cat <<'X Y'\na\nX Y": no, "cat <<\"X Y\"\na\nX Y": no,
		"cat <<X''\na\nX": no, "cat <<X\n$a ${b:-c}\nX": all, "cat <<X\n${b:=c}\nX": no, "cat <<X\na\\\nX\nX": no,
		"cat <<'X'\na\\\nb\nX": no, "cat <<X\nX": all, "cat <<\\X\na\nX": no, "cat <<\"X$a\"\nb\nX$a": no,
		"cat <<X\n#\n$(git a)\nX": all, "cat <<-X\n\ta\n\tX": all, "cat <<X <<Y\na\nX\n$(rm a)\nY": no,
		"cat <<< a": bash, "cat <<< $(rm a)": no, "cat <<< \"a b\"": bash, "cat <<< $(git a)": bash,
		"git $'a'": bash, "git $'a\\nb'": bash, "git $\"a\"": no, "git \"a b\" 'c d' e\\ f": all, "git $[1]": no,
		"git a$": no, "git \"a$\"": no,
		"git `git a`": no, "cat $(git a)": all, "cat \"$(git a)\"": all, "git $(rm a)": no, "git \"$(rm a)\"": no,
		"git ${ git a; }": no,
		"cat <(git a)":    bash, "cat <(rm a)": no, "cat $((1+2))": all, "git $((x))": no, "git $((1+$(rm a)))": no,
		"git $((a[1]))": no,
		"git @(a)":      no, "git !(a)": no, "git $a": no, "[[ -f @(a) ]] && git b": no, "[[ a == @(b) ]] && git c": no,
		"cat $a ${a} ${a:-b} ${a-b} ${a:+b} ${a+b} ${a#b} ${a##b} ${a%b} ${a%%b} ${#a}": all,
		"git ${a:=b}": no, "git ${a=b}": no, "git ${a:?b}": no, "git ${a?b}": no, "git ${!a}": no, "git ${a@P}": no,
		"git ${a^}":   no,
		"git ${a[1]}": no, "git ${a:1}": no, "git ${a/b/c}": no, "git ${!a*}": no, "git ${a:-$b}": no,
		"git ${a:-'b'}": no, "git ${a:-b c}": no,
		"a=b; cat $a": all, "a[0]=b; git c": no, "a=(b); git c": no, "a+=(b); git c": no, "declare a=b; git c": no,
		"export A=b; git c": no, "export -n a; git c": no, "export $a; git c": no, "readonly a=b; git c": no,
		"let a=1; git c": no, "> /dev/null": all, "git a; > /dev/null": all, "git a; > b": no, "< a": all, "< $a": no,
		"cat <<$\"X\"\na\nX": no, "cat <<\"\"\na\n\n": no, "cat <<''\na\n\n": no, "cat a #": all, "cat $#": all,
		"cat ${#}": all,
		"cat $?":   all, "cat $!": all, "cat $$": all, "cat $@": all, "cat $1": all, "cat ${1:-a}": all, "cat ${10}": all,
		"a=$(git b)": all, "a=$(rm b)": no, "a[0]=b": no, "a=(b)": no, "a+=(b)": no, "A=b git c": no,
		"PATH=a git b": no, "LANG=C git a": all, "LC_ALL=$a git b": no, "export a=b": all, "export -n a": no,
		"export $a": no, "export A=b": no,
		"declare a=b": no, "readonly a=b": no, "local a=b": no, "typeset a=b": no, "export CI=1 a": all, "export CI=$a": no,
		"export CI[0]=a": no, "export CI=(a)": no,
		"git a # b": all, "git a #b\\\ngit c": no, "git a#b": all, "git #a": no, "git ''#a": all, "git a\\\n b": no,
		"git a \\\nb": all,
		"git a\\":     no, "git a \\\n": no, "git a\r": no, "git a\tb": all, "git a\vb": no, "git \u2028": no,
		"git \u200b": no, "git \u00ad": no,
		"git \ufeff": no, "git é": all, "git \u00c0": all, "git '\u00e0'": all, "git \u00e0": no, "git à b": no,
		"git \"à\"": all,
		"git 'a":    no, "git \"a": no, "git $(a": no, "git ((": no, "git )": no, "git a;; b": no, ";git": no, "git &&": no,
		"": no, " ": no, "# a": no,
		"cat {a,b}": all, "cat {a,b}c": all, "git {a,b}": no, "{git,rm} a": no, "gi? a": no, "g*t a": no, "$a b": no,
		"git$a b": no, "'git' a": all, "\"git\" a": all,
		"\\git a": all, "./git a": no, "/usr/bin/git a": no, "GIT a": no, "~/git a": no, "cat": all, "git": no, "catx": no,
		"git a | sh": no, "git a | xargs cat": no, "eval git a": no, "command git a": no, "exec git a": no, "nohup git a": no,
		"env git a": no, "sudo git a": no, "git a ;cat b; rm c": no, "git a | rm b": no, "rm a | git b": no,
		"git a\nrm b": no, "git a & rm b": no,
		"git a || rm b": no, "(rm a)": no, "{ rm a; }": no, "git a; (cat b; rm c)": no, "git a | (cat b | rm c)": no,
		"alias git=rm":   no,
		"git -c a.b=c d": all, "git -c alias.a='!rm' b": no, "git -c core.pager=rm a": no, "git -c core.pager='cat a' b": all,
	} {
		for dialect, in := range map[shell.Dialect]bool{shell.AnyShell: want == all, shell.Bash: want != no} {
			t.Run(string(dialect)+"/"+command, func(t *testing.T) {
				if got := allowed(t, dialect, []string{"git *", "cat", "cat *", "export *"}, command); got != in {
					t.Errorf("got %t", got)
				}
			})
		}
	}
}

// The options of a wrapper, and the input of xargs and others, can change what runs.
func TestRulesKnowWhatWrappersRun(t *testing.T) {
	globs := []string{"git *", "cat *", "sudo *", "env *", "xargs", "xargs *", "cat", "find *", "fd *",
		"python*", "docker *", "ssh *", "parallel *",
		"sh", "sh *", "timeout *", "nice *", "flock *", "su *", "unshare *", "ionice *", "strace *", "watch *", "command *",
		"eval *", "entr *", "nohup *", "time *", "nsenter *", "doas *", "script *", "trap *", "exec *", "npx *", "stdbuf *"}
	for command, want := range map[string]bool{
		"sudo git a": true, "sudo -u x git a": true, "sudo -s git a": false, "sudo -i git a": false, "sudo -R x git a": false,
		"sudo --chroot=x git a": false, "sudo -h x git a": false, "sudo rm a": false, "sudo -u x rm a": false,
		"sudo $x":        false,
		"sudo A=b git c": false, "sudo LANG=C git c": true, "sudo a=b git c": true, "sudo PATH=a git c": false,
		"sudo -Z git a": false,
		"doas git a":    true, "doas -s git a": false, "doas -C x git a": false, "env git a": true, "env -i git a": true,
		"env -S 'git a'": false, "env --split-string='git a'": false, "env A=b git c": false, "env a=b git c": true,
		"env -u A git b": true,
		"env rm a":       false, "env CI=1 git a": true, "env -x git a": false, "nice git a": true, "nice rm a": false,
		"nohup git a":     true,
		"timeout 5 git a": true, "timeout 5 rm a": false, "timeout -k 1 5 git a": true, "timeout --x 5 git a": false,
		"timeout git a": false, "ionice -c 2 git a": true, "ionice -p 1 git a": false, "unshare -r git a": true,
		"unshare -R x git a":     false,
		"unshare --root=x git a": false, "nsenter -t 1 git a": true, "nsenter -r git a": false, "strace git a": true,
		"strace -o x git a": false, "strace -E A=b git c": false, "watch git a": true, "watch -x git a": false,
		"watch 'git a; rm b'": false,
		"flock x git a":       true, "flock x -c 'git a'": false, "su -c 'git a'": true, "su -c 'rm a'": false,
		"su -s x -c 'git a'":  false,
		"script -c 'git a' x": false, "stdbuf -oL git a": true, "stdbuf -oL rm a": false, "command git a": true,
		"command -v rm": true,
		"command rm a":  false, "exec git a": true, "exec rm a": false, "exec -a x git a": true, "trap 'git a' EXIT": true,
		"trap 'rm a' EXIT": false, "eval git a": true, "eval 'git a; rm b'": false, "eval $a": false,
		"eval \"git $a\"": false,
		"eval $(git a)":   false, "time git a": true, "time rm a": false,
		"xargs git log": true, "xargs": true, "xargs git": false, "xargs git -c": false, "xargs rm": false,
		"xargs sudo": false, "xargs env": false,
		"xargs sh": false, "xargs sh -c 'git a'": false, "xargs find": false, "xargs python": false,
		"xargs -I{} git log {}": true, "xargs -I {} git log {}": true, "xargs -I git cat log": false,
		"xargs -I{} git {}": false, "xargs -I{} {} git a": false, "xargs -I git git log": false, "xargs -i git log": true,
		"xargs -I% cat %": true, "xargs -Ia cat a": false, "xargs --process-slot-var=A git log": false,
		"xargs --replace cat":       true,
		"xargs --replace=cat cat a": false, "xargs -n 1 -P 4 git log": true, "xargs -q git log": false,
		"xargs $x git log": false,
		"find a":           true, "find a -exec git log {} \\;": true, "find a -exec git log {} +": true,
		"find a -exec rm {} \\;":                    false,
		"find a -exec git log {} + -exec rm {} \\;": false, "find a -exec git log \\; -exec cat {} +": true,
		"find a -exec git {} \\;": false,
		"find a -exec {} \\;":     false, "find a -exec sh -c 'git log {}' \\;": false,
		"find a -exec sh -c 'git log' \\;":    true,
		"find a -exec sh -c 'git log' {} \\;": true, "find a -exec sh {} \\;": true, "find a -exec sh -c {} \\;": false,
		"find a -exec python \\;": true, "find a -exec python {} \\;": false, "find a -exec python x {} \\;": true,
		"find a -exec python -c {} \\;": false, "find a -exec git -c {} log \\;": false, "find $a": false,
		"find a -exec $b \\;": false,
		"fd a -x git log":     false, "fd a -x git": false, "fd a -x rm": false, "fd a -x python": false,
		"fd a -x python b": false,
		"fd a -x cat {/}":  false, "fd a -x x{} b": false, "fd a --exec=rm": false, "fd a --exec=cat": false,
		"fd -e x -X cat": false,
		"docker run a":   true, "docker run a psql": false, "docker run a kubectl": true, "docker run a sh -c 'git b'": true,
		"docker run a sh -c 'rm b'": false,
		"docker run a rm b":         false, "docker run a git b": true, "npx a": true, "npx rm a": false,
		"ssh h": true, "git a | ssh h": false, "ssh h < a": false, "ssh h <<X\ngit a\nX": false, "ssh h git a": true,
		"ssh h 'git a; rm b'": false,
		"ssh h rm a":          false, "ssh -o a h git b": true, "ssh -F a h git b": false, "ssh -p 22 h git b": true,
		"ssh h $a": false, "ssh $h git a": false,
		"parallel git log ::: a b": false, "parallel rm ::: a": false, "parallel ::: 'git a' 'cat b'": false,
		"parallel ::: 'git a' 'rm b'": false,
		"parallel git log":            false, "parallel git ::: a": false, "parallel sh ::: a": false,
		"parallel -S h git log ::: a": false,
		"parallel git log -- a":       false, "parallel -- git a": false, "parallel git log {=a=} ::: b": false,
		"parallel git log ';' rm ::: a": false,
		"entr git log":                  true, "entr -s 'git a'": false, "entr rm": false,
		"sh -c 'git a'": true, "sh -c 'rm a'": false, "sh -c \"git $a\"": false, "sh -c": true, "sh a": true,
		"sh": false, "git a | sh": false,
		"sh <<X\ngit a\nX": true, "sh <<X\nrm a\nX": false, "sh -s <<X\ngit a\nX": true,
		"git b | sh <<X\ngit a\nX": false, "sh < a": false,
		"python a": true, "python -c 'os.system(\"rm a\")'": false, "python -c 'print(1)'": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := allowed(t, shell.Bash, globs, command); got != want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestManyScriptsInSequenceAreRead(t *testing.T) {
	text := strings.Repeat("sh -c 'ls'; ", 60)
	if got := denied(t, &shell.Guard{}, text); got != "" {
		t.Error(got)
	}
	if got := denied(t, &shell.Guard{}, text+"rm -rf x"); got == "" {
		t.Error("the command at the end was not found")
	}
}

func TestWorkspacesAllowFindOnlyBelow(t *testing.T) {
	guard := &shell.Guard{Rules: shell.WorkspaceRules("/w")}
	for command, want := range map[string]bool{
		"find build -delete": true, "gfind build -delete": true, "find build x -delete": true, "find build / -delete": false,
		"find . -name '*.o' -delete": true, "find -name '*.o' -delete": true, "find -delete": false, "find . -delete": false,
		"find . -name '*' -delete": false, "find . -name .git -delete": false, "find . -name '.*' -delete": false,
		"find . -name '*.o' -o -name x -delete": false, "find . ! -name '*.o' -delete": false, "find . -delete -name": false,
		"find -L build -delete": false, "find '(' -name '*.o' ')' -delete": true, "find / -name '*.o' -delete": false,
		"find build -exec rm {} +": true, "find . -exec rm {} +": false, "find . -iname '*.o' -exec rm {} \\;": true,
		"find build -exec rm -rf {} +": true, "find .. -exec rm -rf {} +": false, "fd -x rm": false,
		"fd x build -X rm":  false,
		"find .git -delete": false, "find build/../.. -delete": false, "find $x -delete": false,
		"cd build && find . -delete": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := denied(t, guard, command); (got == "") != want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestRulesReportWhatTheyCannotCheck(t *testing.T) {
	deep := strings.Repeat("$(", 2000) + strings.Repeat(")", 2000)
	for name, c := range map[string]struct {
		args string
		want string // in the error; "": none
	}{
		"deep":      {`{"command":"git ` + deep + `"}`, "nested too deeply"},
		"twice":     {`{"command":"git a","command":"git b"}`, "command"},
		"no text":   {`{"command":1}`, "command"},
		"another":   {`{"other":1}`, ""},
		"ordinary":  {`{"command":"git a"}`, ""},
		"malformed": {`{"command":`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			glob := shell.CommandGlob("command", "git *")
			ok, err := glob.MatchEvery(agent.ToolCallRequest{Name: "bash", Args: []byte(c.args)})
			if c.want != "" && (ok || err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %t and %v", ok, err)
			}
			if c.want == "" && name != "malformed" && (err != nil || ok != (name == "ordinary")) || name == "malformed" && ok {
				t.Errorf("got %t and %v", ok, err)
			}
		})
	}
	if err := shell.CommandGlob("command", "git *").In("zsh").Check(); err == nil {
		t.Error("the dialect zsh is accepted")
	}
}
