package shell

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// coveredBy reports whether a rule for all uses of some programs allows a command.
func coveredBy(t *testing.T, command string, programs ...string) bool {
	t.Helper()
	var globs []string
	for _, program := range programs {
		globs = append(globs, program+" *")
	}
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	ok, err := CommandGlob("command", globs...).In(Bash).MatchEvery(agent.ToolCallRequest{Args: args})
	return ok && err == nil
}

// Each line is a program with arguments, one command an alternative.
const optionsThatRun = `
git ls-remote --upload-pa=evil x | git ls-remote --upload-pack evil x | git ls-remote --exe=evil x
git ls-remote x --upload-pa evil | git fetch --upl=evil x | git fetch x --upload-pack=evil | git pull --upload-p evil
git grep -Oevil x | git grep -nOevil x | git grep -O x | git grep x -Oevil | git grep --open=evil x | git grep --op x
git grep -e -- -Oevil | git grep --open-files-in-pager=evil x | git grep -il -Oevil x
git clone -u evil x | git clone -uevil x y | git clone -qu evil x | git clone x -u evil | git clone --upload-p evil x
git clone -c core.sshCommand=evil x | git clone -ccore.fsmonitor=evil x | git clone --conf core.hooksPath=x y
git clone --config=core.pager=evil x | git clone --templ=x y | git clone --template x y | git init --templ=x
git rebase --exe evil x | git rebase --exec=evil x | git rebase -x evil x | git rebase -xevil x | git rebase -ixevil x
git rebase x -x evil | git rebase --ex evil x | git difftool -x evil | git difftool -yxevil | git difftool --extc=evil
git push --receive-p=evil x | git push x --exec evil | git push -fq --rec evil x | git send-pack --exe=evil x
git archive --remote=x --exe=evil HEAD | git archive --exec evil HEAD | git fetch-pack --upload-pa=evil x
git filter-branch --tree-f evil | git filter-branch --msg-filter evil | git filter-branch --setup evil
git -c protocol.ext.allow=always ls-remote x | git -c protocol.allow=always fetch x
git -c core.alternateRefsCommand=e x
git -c gpg.ssh.defaultKeyCommand=evil log | git -c sendemail.headerCmd=evil x | git -c instaweb.httpd=evil instaweb
git -c help.browser=evil help x | git -ccore.pager=evil log | git -C x -c core.editor=evil commit
git -C x ls-remote --upload-pa=evil y | git --git-dir x grep -Oevil y | git --git-dir=x -p grep -Oevil y
git config -f .git/config core.pager evil | git config --file=x.y alias.x '!evil' | git config --add alias.x '!evil'
git config set alias.x '!evil' | git config protocol.ext.allow always | git config --rename-sec x alias
git submodule --quiet foreach evil | git submodule foreach --recursive evil | git bisect run evil
git merge-index evil -a | git remote-ext x evil | git for-each-repo --config=x -c alias.x=!evil x
git send-email --sendmail-c=evil x | git send-email -to-cmd=evil x | git instaweb -devil | git instaweb --http evil
git unknown --exec=evil | git unknown --upload-pa evil | git unknown -xevil | git help-me -O evil
git ls-remote $x y | git ls-remote y "$x" | git push origin $(git log) | git ls-remote * | git clone x$y z
x=--upload-pack=evil; git ls-remote $x y | git --unknown grep x | git log --outp=x | git diff --output x
git {ls-remote,--upload-pack=evil} x | git ls-remote {--upload-pack=evil,x} | git grep {-Oevil,x}
tar --checkpoint-act=exec=evil -cf x y | tar -cf x --checkpoint=1 --checkpoint-action exec=evil y | tar -Ievil -cf x y
tar -I evil -cf x y | tar -tI evil -f x | tar -tIevil -f x | tar xIf evil x | tar -x -f x -I evil | tar cFf evil x y
tar --use-c=evil -cf x y | tar --use-compress-program evil -tf x | tar --to-c=evil -xf x | tar -xf x --to-command evil
tar --info-scr=evil -cMf x y | tar --new-vol evil -cf x y | tar --rsh-c=evil -tf h:x | tar --rmt evil -tf h:x
tar -F evil -cf x y
tar -cf x * | tar -cf x $y | tar -cf "$x" $y | tar -C $x -cf y z | tar --unknown evil -cf x y
sort --compress-prog=evil x | sort x --comp evil | sort -S 1 --compress-program=evil x | sort $x | sort --unknown x
sftp -oProxyCommand=evil h | sftp -o ProxyCommand=evil h | sftp -o 'proxycommand evil' h | sftp -oPROXYCOMMAND=evil h
sftp -S evil h | sftp -CSevil h | sftp -Fx h | sftp -b x h | sftp -D evil | sftp -Devil
sftp -o 'KnownHostsCommand evil' h
scp -oProxyCommand=evil x h:y | scp -S evil x h:y | scp -rSevil x h:y | scp -F x y h:z | scp -D evil x y
scp -o Include=x y h:z
ssh -oProxyCommand=evil h | ssh -F x h | ssh -I x.so h | ssh -vFx h | ssh -o 'localcommand evil' h
rsync -e evil x h:y | rsync -eevil x h:y | rsync -ave evil x h:y | rsync x h:y -e evil | rsync --rsh=evil x h:y
rsync --rsync-path evil x h:y | rsync --rs evil x h:y | rsync --config=x y h:z | rsync -M--rsh=evil x h:y
awk 'BEGIN{c="evil"; c|getline}' | awk 'BEGIN { c | getline x }' | awk '{ "evil" | getline }' x
awk '{print | "evil"}' x
awk '{c="evil"; print |& c}' x | awk 'BEGIN{system("evil")}' | awk -f x | awk -fx y | awk --file=x | awk --fi x
awk -E x
awk -i x 1 y | awk --incl=x 1 y | awk -l x 1 y | awk --load=x 1 | awk -e 'BEGIN{system("evil")}'
awk -eBEGIN{system\(x\)}
awk --sour='BEGIN{c|getline}' | awk -W exec=x | awk '@load "x"; 1' | awk '@include "x"' | awk '{print > "x"}' y
awk '{printf "%s", $1 >> "x"}' y | awk 'BEGIN{print /"/; c | getline; y = "x"}'
awk 'BEGIN{x++ /2; c | getline; y++ /3}'
awk 'BEGIN{f="system"; @f("evil")}' | awk -v x=1 -F: 'BEGIN{c|getline}' x | awk "$x" y | awk $x 1 y
awk 'BEGIN { a = "\""; c | getline }'
awk '/[/]/ { c | getline } /]/ { x }' | awk $'# "\nBEGIN{system(x)} # "' | gawk --prof=x 1 | gawk --pretty=x 1
mawk -We x
sed e x | sed 1e x | sed '1e evil' x | sed 's/a/evil/e' x | sed s,a,evil,ge x | sed -e p -e 's/a/evil/e' x
sed -n '$!e' x
sed '/x/,$ e evil' x | sed -f x y | sed -fx y | sed -nf x y | sed --fil=x y | sed --expr='1e evil' x
sed --expression e x
sed 's/a/b/w x' y | sed 'w x' y | sed -n '/x/w y' z | sed x -e '1e evil' | sed -i '' 's/a/b/e' x | sed '{e' x
sed '1{p;e evil' x
sed 's|a|b|;s/c/d/e' x | sed 'sxaxbxe' y | sed 'y/a/b/;e evil' x | sed ':a;e evil' x | sed "$x" y
sed 'a\' -e 'b' -e 'e' x
zip x y -T -TT evil | zip -TTevil x y | zip -qT x y | zip x y --unzip-comm=evil -T | zip x y --unzip-command evil
split --filter=evil x | split --fil evil x | split x --filter evil | split -l 5 --filt=evil x
install -s --strip-program=evil x y | install --strip-p evil -s x y
man -P evil x | man -Pevil x | man --pag=evil x | man -aPevil x | man -Hevil x | man --html=evil x | man -C x y
man --config-f x y
less -k x y | less -Nkx y | less --lesskey-s=x y | less '+!evil' x | less ++v x | less --lesskey-content=x y
wget --use-ask=evil x | wget -e use_askpass=evil x | wget --exec use_askpass=evil x | wget --conf=x y
wget -qe use_askpass=evil x
go build -toolexec=evil x | go build -toolexec evil x | go build --toolexec evil x | go vet -vettool=evil x
go test -exec evil x
go run -exec=evil x | go test -v -exec evil ./x | go env -w GOFLAGS=-toolexec=evil | go env -u GOFLAGS
go build -ldflags=-extld=evil
go build -ldflags "-s -extld evil" | go build -compiler=gccgo -gccgoflags=-Bx x | go build $x | go test -toolexec $x y
npm test --script-shell=evil | npm test --script-sh evil | npm -script-shell evil test | npm --userc=x test
rg --pre=evil x | rg --pre evil x | rg --hostname-bin evil x | vim +'call system(1)' x | vim -c 'call system(1)' x
vim -S x
env -S'git x' | env --split='git x' | xargs --arg-f x evil | find . -exec evil {} + | find . -okdir evil \;
echo x | xargs git ls-remote | echo x | xargs tar cf y | echo x | xargs -I{} git clone {} y | echo x | xargs rsync -a y
`

func TestOptionsThatRunProgramsAreNotAllowed(t *testing.T) {
	for line := range strings.Lines(optionsThatRun) {
		for _, command := range alternatives(line) {
			t.Run(command, func(t *testing.T) {
				if coveredBy(t, command, "git", "tar", "sort", "sftp", "scp", "ssh", "rsync", "awk", "gawk", "mawk", "sed", "zip",
					"split", "install", "man", "less", "wget", "go", "npm", "rg", "vim", "env", "xargs", "find", "echo") {
					t.Error("the rule allows it")
				}
			})
		}
	}
}

// alternatives splits a line at the bars before the name of a program.
func alternatives(line string) (list []string) {
	if line = strings.TrimSpace(line); line == "" {
		return nil
	}
	for part := range strings.SplitSeq(line, " | ") {
		program, _, _ := strings.Cut(part, " ")
		g, _ := grammarOf(staticWords(strings.Fields(part)))
		if len(list) > 0 && (g == nil || program == "xargs") &&
			!slices.Contains([]string{"env", "find", "echo", "x=--upload-pack=evil;"}, program) {
			list[len(list)-1] += " | " + part
		} else {
			list = append(list, part)
		}
	}
	return list
}

const harmlessOptions = `
git ls-remote --heads x | git ls-remote x -- -x | git fetch --all --prune | git fetch -u origin x:y | git pull --rebase
git grep -n x | git grep -e -x | git grep -nw x -- '*.go' | git grep x -- -Oevil | git grep -A3 -e x | git grep -c x
git clone --depth 1 x y | git clone --dep=1 x | git clone -b main x | git clone -c user.name=x y
git push -u origin main
git push --force-with-lease | git push origin HEAD | git rebase -i HEAD~3 | git rebase --onto x y | git rebase --cont
git archive --format=tar HEAD | git archive -o x.zip HEAD | git log --oneline -n 5 | git log -O x | git log $x
git add "$x"
git log --no-merges --format=%h | git diff --stat | git diff --output-indicator-new=x
git commit -am "fix: -x --exec=y"
git commit -m --exec | git st -sb | git config user.name x | git config --get core.pager | git config -f x.y user.name z
git submodule update --init | git submodule status | git bisect start | git init -b main | git push --no-verify
tar czf x.tgz y | tar xzf x.tgz -C y | tar -tvf x | tar cf x --exclude='*.o' y | tar --zstd -xf x | tar -cf x -T y
tar -cf x --checkpoint=10 --checkpoint-action=dot y | tar cf x -- -Ievil | tar -C "$x" -cf y z | tar cf x ./*
sort -k2,2 -t: x | sort -u x | sort -nr x | sort --key=2 x | sort -o x x | sort -t - x | sort -- -x
sftp -P 22 h | scp -r x h:y | scp -o StrictHostKeyChecking=no x h:y | scp -P 22 -i x y h:z | rsync -av --delete x y
rsync -avz --exclude=.git x h:y | awk '{print $1}' x | awk -F: '{print $1}' x | awk '/a|b/ {print $1 ", " $2}' x
awk -F'|' '{print $2}' x | awk 'NR>1 && $2 > 5' x | awk '{s+=$1} END {print s/NR}' x | awk '$1 ~ /x|y/ || $2 == "|"' x
awk '{print "a -> b"}' x | awk -v x="$y" '{print x}' z | awk '{ print $1 }' $x | awk '!/^#/ {n++} END {print n}' x
sed 's/a/b/' x | sed -n '1,5p' x | sed -i 's/a/b/g' x | sed -i.bak s/a/b/ x | sed -e 's/a/b/' -e '/c/d' x
sed '/^$/d' x
sed -E 's/(a|b)+/\1/g' x | sed 's|/dev/sda|/dev/sdb|' x | sed -n '/a/,/b/p' x | sed 's/[^/]*$//' x
sed 's,a/,,;s#b##' x
sed '$d' x | sed 's/[[:space:]]*$//' x | sed -n '$=' x | sed '1i hello' x | sed '1,3{s/a/b/;p}' x | sed 5q x
sed 's/e/E/;s/w/W/' x
sed ':a;N;$!ba;s/\n/ /g' x | sed -n 1,5p -- "$x" | sed 's/\/rm -rf x\//y/' z | sed '/x/a\ more' y | sed 'y/abc/xyz/' x
sed '1~2d' x
zip -r x.zip y | zip -q x y | split -l 100 x y | install -m 755 x y | man ls | man 3 printf | less -N x | less +G x
less +/x y
wget -q x | wget -O x y | wget -qO- x | curl -fsSL x | curl -o x y | go build ./... | go test -run X -count=1 ./...
go test -v ./x -args -x | go vet ./... | go env GOPATH | go list -e -f x ./...
go build -o x -ldflags="-s -w -X main.x=y" ./z
go mod tidy | npm test | npm run build | npm install -D x | npm ci --silent | rg -n x | rg -e x -g '*.go' | vim -c wq x
`

func TestHarmlessOptionsAreAllowed(t *testing.T) {
	for line := range strings.Lines(harmlessOptions) {
		for _, command := range alternatives(line) {
			t.Run(command, func(t *testing.T) {
				program, _, _ := strings.Cut(command, " ")
				if !coveredBy(t, command, program) {
					t.Error("the rule refuses it")
				}
			})
		}
	}
}

// evilValues are values for options that matter only with some values.
var evilValues = []string{"evil", "exec=evil", "ProxyCommand=evil", "proxycommand evil", "use_askpass=evil", "/evil",
	"-s -extld evil", "gccgo", "!evil", "x$", "call x()", "|evil", "-", "`x", "enter:execute(evil)", "0"}

// Every spelling of every option in the table that can run a program is refused.
func TestEverySpellingOfAnOptionIsRefused(t *testing.T) {
	tried := 0
	for name, g := range grammars() {
		program, subcommand, _ := strings.Cut(name, " ")
		if g.is("refused") || name == "git" {
			continue
		}
		before := strings.TrimSpace(program + " " + strings.Replace(subcommand, "*", "unknown", 1))
		t.Run(name, func(t *testing.T) {
			for option, e := range g.options {
				if !e.isDangerous() || option == "--" { // only within a word of short options
					continue
				}
				value := evilValues[0]
				if e.does == "setting" {
					value = "core.pager=evil"
				} else if e.matters != nil {
					value = evilValues[slices.IndexFunc(evilValues, e.matters.MatchString)]
				}
				for _, words := range spellings(g, option, value) {
					for _, command := range arranged(before, words) {
						if tried++; coveredBy(t, command, program) {
							t.Errorf("a rule for %s allows %s", program, command)
						}
					}
				}
			}
		})
	}
	if tried < 5_000 {
		t.Errorf("only %d spellings were tried", tried)
	}
}

// spellings returns the words in which an option with a value can be written.
func spellings(g *grammar, option, value string) (list [][]string) {
	switch {
	case option == "+":
		return [][]string{{"+" + value}}
	case len(option) == 2:
		if list = [][]string{{option, value}}; !g.is("exact") {
			list = append(list, []string{option + value})
		}
		for _, flag := range slices.Sorted(maps.Keys(g.options)) {
			if e := g.options[flag]; len(flag) == 2 && e.does == "flag" && !g.is("exact") && len(list) < 8 {
				list = append(list, []string{flag + option[1:], value}, []string{flag + option[1:] + value})
			}
		}
		return list
	}
	for end := 3; end <= len(option); end++ {
		name := option[:end]
		if _, other := g.options[name]; other && name != option || g.is("exact") && name != option {
			continue
		}
		list = append(list, []string{name, value}, []string{name + "=" + value})
		if g.is("single") && len(name) > 3 {
			list = append(list, []string{name[1:], value}, []string{name[1:] + "=" + value})
		}
	}
	return list
}

// arranged returns commands with the words of an option, quoted and at several positions.
func arranged(before string, words []string) (list []string) {
	single := make([]string, len(words))
	double := make([]string, len(words))
	for i, w := range words {
		single[i] = "'" + w + "'"
		double[i] = w[:1] + `"` + strings.ReplaceAll(w[1:], "$", `\$`) + `"`
	}
	option := strings.Join(single, " ")
	list = []string{
		before + " " + option, before + " " + option + " x", before + " " + strings.Join(double, " ") + " x",
		before + " $'" + strings.Join(words, "' $'") + "' x",
	}
	if !strings.HasSuffix(before, "awk") && before != "ssh" { // their options end at the first operand
		list = append(list, before+" x "+option, before+" x "+option+" -- y")
	}
	return list
}

func TestListedOptionsAreAllowed(t *testing.T) {
	for name, g := range grammars() {
		program, subcommand, _ := strings.Cut(name, " ")
		if g.is("refused") || name == "git" || g.wraps() || neverAllowed[program] {
			continue
		}
		before := strings.TrimSpace(program + " " + strings.Replace(subcommand, "*", "unknown", 1))
		for _, option := range slices.Sorted(maps.Keys(g.options)) {
			command := fmt.Sprintf("%s %s", before, option)
			switch e := g.options[option]; e.does {
			case "value":
				command += " 5 p"
			case "flag", "maybe":
				command += " p"
			default:
				continue
			}
			t.Run(command, func(t *testing.T) {
				if !coveredBy(t, command, program) {
					t.Error("the rule refuses it")
				}
			})
		}
	}
}

// A misspelled word in the table would make a dangerous option harmless.
func TestWordsOfTheOptionTableAreKnown(t *testing.T) {
	kinds := strings.Fields("flag value maybe run exec begin setting text refuse")
	styles := strings.Fields("open exact stops old single static refused command second joined first input appends")
	for name, g := range grammars() {
		for _, style := range g.styles {
			if !slices.Contains(styles, style) {
				t.Errorf("%s has the style %s", name, style)
			}
		}
		for option, e := range g.options {
			if !slices.Contains(kinds, e.does) {
				t.Errorf("%s of %s is %s", option, name, e.does)
			}
			if !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "+") {
				t.Errorf("%s of %s is not an option", option, name)
			}
		}
	}
}

// FuzzOptions checks that a rule for tar allows no command to which an option that runs evil is appended, whatever
// precedes the option, unless "--" ends the options.
func FuzzOptions(f *testing.F) {
	for line := range strings.Lines(harmlessOptions + optionsThatRun) {
		for _, command := range alternatives(line) {
			if arguments, ok := strings.CutPrefix(command, "tar "); ok {
				f.Add(arguments)
			}
		}
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		words := append(strings.Fields(arguments), "-Ievil")
		if slices.Contains(words, "--") || strings.Contains(arguments, "'") {
			return
		}
		if command := "tar '" + strings.Join(words, "' '") + "'"; coveredBy(t, command, "tar") {
			t.Errorf("a rule for tar allows %s", command)
		}
	})
}
