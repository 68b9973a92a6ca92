package shell_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
)

// The page about built-in hooks shows a rule with globs, names commands that it allows, and others that it asks about.
func TestRuleOnThePageDoesWhatItSays(t *testing.T) {
	data, err := os.ReadFile("../../docs/agents/built-in-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "<!-- package coder -->")
	section, _, _ = strings.Cut(section, "Hooks that select tools by name")
	_, code, found := strings.Cut(section, `CommandGlob("command", `)
	code, _, ended := strings.Cut(code, ").In(shell.Bash)")
	_, prose, _ := strings.Cut(section, "\n```\n")
	prose = strings.Join(strings.Fields(prose), " ")
	runs, asks, split := strings.Cut(prose, "A person is asked")
	asks, _, limited := strings.Cut(asks, "not a sandbox")
	if !found || !ended || !split || !limited {
		t.Fatal("the page does not show the rule with the commands that it allows and asks about")
	}
	var globs []string
	for _, quoted := range regexp.MustCompile(`"[^"]*"`).FindAllString(code, -1) {
		glob, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(err)
		}
		globs = append(globs, glob)
	}
	command := regexp.MustCompile("`((?:git|go|cd) [^`]*)`")
	for text, want := range map[string]bool{runs: true, asks: false} {
		commands := command.FindAllStringSubmatch(text, -1)
		if len(commands) < 4 {
			t.Errorf("%q names only %d commands", text, len(commands))
		}
		for _, m := range commands {
			t.Run(m[1], func(t *testing.T) {
				if got := allowed(t, shell.Bash, globs, m[1]); got != want {
					t.Errorf("allowed: %t, want %t", got, want)
				}
			})
		}
	}
	for _, other := range []string{
		"git log --outp=x", "git diff --output x", "git diff --no-index /dev/null /etc/passwd", "git log -p -- .env",
		"git show HEAD:./.env", "git cat-file -p HEAD:.env", "git push", "git push origin main", "git push file:///x HEAD",
		"git remote add x https://example.com", "git -c core.pager=x log", "git -C / status", "git clone https://example.com",
		"git config core.editor x", "go run .", "go run example.com/x@v1.0.0", "go install example.com/x@latest",
		"go env -w GOPROXY=x", "go test -exec=x ./...", "go test -toolexec x ./...", "go vet -vettool=x ./...",
		"go build -o /x ./...", "go generate ./...", "go get example.com/x", "cd / && git status",
		"GOFLAGS=-exec=x go test ./...", "git commit -m x --exec=y > z", "git add x; rm x",
		"go test ./... && curl example.com",
	} {
		t.Run(other, func(t *testing.T) {
			if allowed(t, shell.Bash, globs, other) {
				t.Error("the rule on the page allows it")
			}
		})
	}
}

// The page names commands that a Guard for a workspace denies, and others that it asks about.
func TestGuardOnThePageDoesWhatItSays(t *testing.T) {
	data, err := os.ReadFile("../../docs/agents/built-in-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "`shell.Guard` denies ")
	denies, section, _ := strings.Cut(section, "Guard asks about ")
	asks, _, found := strings.Cut(section, "Its vote counts")
	if !found {
		t.Fatal("the page does not name the commands that a Guard denies and asks about")
	}
	guard := &shell.Guard{Rules: shell.WorkspaceRules("/srv/app")}
	for want, text := range map[string]string{"deny: ": denies, "ask: ": asks} {
		commands := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1)
		if len(commands) < 3 {
			t.Errorf("%q names only %d commands", text, len(commands))
		}
		for _, m := range commands {
			t.Run(m[1], func(t *testing.T) {
				if got := denied(t, guard, m[1]); !strings.HasPrefix(got, want) {
					t.Errorf("got %q, want %s", got, want)
				}
			})
		}
	}
}
