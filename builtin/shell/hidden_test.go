package shell_test

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
)

func TestTextsOfOtherProgramsAreAllowed(t *testing.T) {
	for _, command := range []string{
		"tar -I zstd -cf x.tar.zst y", "tar czf x.tgz --exclude='*.o' y", "sort -o x x", "sort --output=x -u x",
		"split -l 100 x y", "rsync -ave ssh a h:b", "scp -o StrictHostKeyChecking=no a h:b", "man -P cat ls",
		"go test -exec 'env A=b' ./...", "go vet -vettool=/tmp/hookvet ./...", "git push -u origin main", "rg --pre cat x",
		"git grep -O x", "git -c color.ui=always log", "git --config-env=http.proxy=P fetch",
		`awk '/a|b/ {print $1}' x`, `awk -F'|' '{print "rm -rf " $2}' x`, `awk '{print $1 > "out.txt"}' x`,
		`awk '{print "rm -rf x"}' x | sort`, `awk '{print $1 | "sort -u"}' x`,
		"sed 's/rm -rf x/y/' x", "sed -i 's/foo/rm -rf x/g' y", "sed 's/e/E/;s/w/W/' x", "sed -n 'w out.txt' x",
		"sed 's/a/b/w out.txt' x", "sed -e 's|/dev/sda|/dev/sdb|' x", `sed 's/\/rm -rf x\//y/' z`,
		"vim -c ':wq' x", "vim -c '%s/rm -rf x/y/' -c wq z", "ed x <<< 'a\nrm -rf x\n.\nw'", "less +G x",
		"psql -c 'SELECT a FROM b WHERE c != 1'", "sqlite3 x '.tables'", "sqlite3 x 'select (1)'", "gdb -ex run x",
		"crontab -l",
		"make CC=gcc 'CFLAGS=-O2 -g'", "CC='ccache gcc' make", "PAGER=cat git log", "PS1='$(date) ' bash",
		"printf 'x:\\n\\tgo test\\n' > Makefile && make x", "make -f x.mk <<< 'rm'",
		"alias ll='ls -l'; ll", "alias ls='ls -l'; ls x", "cp x y; ./y -rf z", "mv rm.md x.md; cat x.md", "cp a b c; ./c x",
		"f() { go test \"$@\"; }; f ./...", "f() { f2 \"$@\"; }; f2() { f x; }; f y", "f() { f \"$@\"; }; f a",
		"set -- a b; echo \"$@\"", "set -eu; $x", "set -o pipefail; \"$@\"", "x=(a b); x+=(c); echo \"${x[@]}\"",
		"x=$(curl y); echo \"$x\"", "x=$(curl y); sh -c \"echo $x\"", "curl x | while read l; do echo \"$l\"; done",
		"cat <<EOF\n$(curl x)\nEOF", "curl -fsSLo y x; cat y", "wget x/y.sh; cat y.sh", "curl x/y.sh; sh y.sh",
		"printf '%s' '$(rm -rf x)' > y", "echo '$(rm -rf x)'", "x='$(rm -rf x)'; echo \"$x\"", "test -n 'a $x'",
		"[[ $x -eq 3 ]]", "x=3; echo $((x+1))", "echo 'rm -rf x' | grep -c rm", "echo 'rm -rf x' | head -3",
		"echo a | xargs -I X rm -r x/X", "echo 'a b' | xargs -I {} git log {}",
		"echo 'rm -rf x' | python3 -c 'print(1)'", "python3 tool.py -c 'rm -rf x'", "node x.js -e 'rm -rf x'",
		"python3 -c'print(1)'", "ruby -rjson -e 'puts 1'", "perl -pe 's/a/b/' x",
		"python3 -c 'print(\"rm -rf x\")' | cat", "ip addr show", "env A=b make", "env 'BASH_FUNC_x%%=() { ls; }' bash -c x",
		"ls 3< x", "find . -fprint out.txt", "find . -fprintf out.txt %p", "cp -t dir x y", "curl -o x y", "bash --rcfile x",
	} {
		t.Run(command, func(t *testing.T) {
			if got := denied(t, &shell.Guard{}, command); got != "" {
				t.Error(got)
			}
		})
	}
}

func TestRulesRefuseScriptsOnOtherDescriptors(t *testing.T) {
	for command, want := range map[string]bool{
		"sh /dev/fd/3 3<<X\ngit log\nX": false, "sh /dev/fd/4 4<<<x": false, "sh /dev/fd/3 3<x": false,
		"sh 0<<X\ngit log\nX": true, "sh <<X\ngit log\nX": true, "git log 2>&1": true, "git log 0<x": true,
		"git log <<<x": true, `git log <<<"${x@P}"`: false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := allowed(t, shell.Bash, []string{"sh", "sh *", "git *"}, command); got != want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestRulesRefuseCommandsOfEditors(t *testing.T) {
	for command, want := range map[string]bool{
		"awk '{system($1)}' x": false, `awk '{print | "sh"}' x`: false, `awk '"ls" | getline' x`: false,
		`awk '/a|b/ {print $1 ", " $2}' x`: true, "sed '1e reboot' x": false, "sed 's/a/b/' x": true,
		"vim -c '!reboot' x": false, "vim -c wq x": true, "vim -c 'r !reboot' x": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := allowed(t, shell.Bash, []string{"awk *", "sed *", "vim *"}, command); got != want {
				t.Errorf("got %t", got)
			}
		})
	}
}
