package shell_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
)

// denied returns the vote of a guard on a command, "" if it does not vote.
func denied(t *testing.T, g *shell.Guard, command string) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return fixture.Vote(t, agent.NewRun(nil), g, agent.ToolCallRequest{Name: "bash", Args: args})
}

// destructive reads testdata/destructive.txt: the name of a rule after "# ", and below it commands that the rule denies
// or asks about, one a line, with \n for a line break.
func destructive(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/destructive.txt")
	if err != nil {
		t.Fatal(err)
	}
	byRule, rule := make(map[string][]string), ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok || line == "" {
			rule = name
			continue
		}
		byRule[rule] = append(byRule[rule], strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(line))
	}
	return byRule
}

func TestGuardFindsDestructiveCommands(t *testing.T) {
	byRule := destructive(t)
	for _, rule := range shell.DefaultRules() {
		want := "deny: "
		if rule.Ask {
			want = "ask: "
		}
		if len(byRule[rule.Name]) < 20 {
			t.Errorf("%d commands for the rule %s", len(byRule[rule.Name]), rule.Name)
		}
		for _, command := range byRule[rule.Name] {
			t.Run(rule.Name+"/"+command, func(t *testing.T) {
				got := denied(t, &shell.Guard{}, command)
				if !strings.HasPrefix(got, want) || !strings.Contains(got, "("+rule.Name+")") {
					t.Errorf("%q: %q, want %s(%s)", command, got, want, rule.Name)
				}
			})
		}
	}
}

// TestGuardAllowsOrdinaryCommands reads testdata/ordinary.txt: commands that coding agents run every day, one a line,
// with \n for a line break.
func TestGuardAllowsOrdinaryCommands(t *testing.T) {
	data, err := os.ReadFile("testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	ordinary := strings.Split(strings.TrimSpace(string(data)), "\n")
	for name, guard := range map[string]*shell.Guard{
		"default":   {},
		"workspace": {Rules: shell.WorkspaceRules("/srv/app")},
	} {
		for _, command := range ordinary {
			command = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(command)
			t.Run(name+"/"+command, func(t *testing.T) {
				if got := denied(t, guard, command); got != "" {
					t.Errorf("%q: %s", command, got)
				}
			})
		}
	}
}

func TestWorkspaceRulesAllowRemovalsBelow(t *testing.T) {
	root := t.TempDir()
	for link, target := range map[string]string{"inside": "build", "outside": "/"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	guard := &shell.Guard{Rules: shell.WorkspaceRules(root)}
	if got := denied(t, guard, "rm -r ../other"); !strings.Contains(got, "(forced or recursive removal)") {
		t.Errorf("the reason is %q", got)
	}
	for command, want := range map[string]bool{
		"rm -rf node_modules": true, "rm -rf ./dist build/*": true, "rm -rf src/../dist": true,
		"rm -rf dist && npm run build": true, "rm -rf {dist,build}": true, "rm -fr -- dist": true, "rm -rf 'a b'": true,
		fmt.Sprintf("rm -rf %s/dist", root): true, fmt.Sprintf("cd %s && rm -rf dist", root): true,
		"cd web && rm -rf node_modules": true, "cd web; rm -rf dist; cd ..": true, "(cd /tmp && ls); rm -rf dist": true,
		"sudo rm -rf dist":             true,
		"find . -name '*.pyc' -delete": true, "find build -delete": true,
		"find . -name node_modules -type d -prune -exec rm -rf {} +": true,
		"find . -type d -name __pycache__ -exec rm -rf '{}' \\;":     true, "rm -rf *.egg-info": true,
		"rm -rf inside": true, "rm -rf inside/x": true,
		"rm -rf outside":        true,
		"d=dist; rm -rf \"$d\"": true, "for d in dist build; do rm -rf \"$d\"; done": true, "rm -rf .next .cache": true,
		"rm -rf packages/*/dist": true, "rm -rf .gitignore.bak": true, "rm -r dist": true,

		"rm -rf .": false, "rm -rf ./": false, "rm -rf *": false, "rm -rf ./*": false, "rm -rf .*": false,
		"rm -rf .git": false, "rm -rf .git/hooks": false, "rm -rf sub/.git": false, "rm -rf .GIT": false,
		"rm -rf .g*": false, "rm -rf ../x": false, "rm -rf ..": false, "rm -rf /": false, "rm -rf ~": false,
		"rm -rf ~/x": false, "rm -rf /tmp/x": false, "rm -rf \"$x\"": false, "rm -rf $x/y": false, "rm -rf $(ls)": false,
		"rm -rf `ls`": false, "rm -rf dist /etc/x": false, "rm -rf dist/../..": false, "rm -rf": false,
		"cd / && rm -rf dist": false, "cd .. && rm -rf dist": false, "cd $x && rm -rf dist": false,
		"cd; rm -rf dist": false, "cd - && rm -rf dist": false, "cd - x; rm -rf dist": false,
		"pushd /tmp; rm -rf dist": false, "while true; do rm -rf dist; cd ..; done": false,
		"f() { cd ..; rm -rf dist; }; f": false, "ls | xargs rm -rf": false, "ssh host rm -rf dist": false,
		"docker exec web rm -rf dist": false, "rm -rf outside/etc": false,
		"rm -rf outside/none/etc": false, "find . -delete": false,
		"find / -name x -delete": false, "find .. -name x -delete": false,
		"find . -name '*' -delete": false, "find . ! -name x -delete": false, "find . -name x -o -delete": false,
		"find . -exec rm -rf {} +": false, "find . -name .git -exec rm -rf {} +": false,
		root + "/../x; rm -rf " + root: false, "rm -rf " + root: false, "rm -rf " + root + "/": false,
		"rm -rf " + root + "/.git": false, "rm -rf " + root + "x": false,
		"rm -rf \"$PWD\"": false, "cd web && rm -rf ../.git": false, "cd .git && rm -rf objects": false,
		"rm -r .git": false, "rm -r " + root + "/.git": false, "rm -r \"$x\"": false, "rm -r ../other": false,
		"rm -r ~/Documents": false, "ls | xargs rm -r": false, "cd .. && rm -r app": false, "git ls-files | xargs rm": false,
		"rm -r build/*": true, "trash x": true, "rm -r /tmp/hookgen-scratch": true, "rm -r /tmp": false,
		"rm -r " + filepath.Dir(root): false, "rm -r /srv/x": false,
		"rm -r /etc": false, "git reset --hard": false, "eval rm -rf ../x": false, "env -C / rm -rf dist": false,
		"builtin cd /; rm -rf dist":  false,
		"sudo --chdir=/ rm -rf dist": false, "ln -s / x && rm -rf x/home": false, "find -L . -name x -delete": false,
		"find . -type d -name x -exec sudo rm -rf {} +": false, "rm -rf dist; rm -rf /usr": false,
		"python3 -c \"import shutil; shutil.rmtree('/')\"": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := denied(t, guard, command); (got == "") != want {
				t.Errorf("%q: %q, want allowed: %t", command, got, want)
			}
		})
	}
}

func TestWorkspaceRulesNeedAnAbsoluteRoot(t *testing.T) {
	fixture.MustPanic(t, "not an absolute path", func() { shell.WorkspaceRules("app") })
}
