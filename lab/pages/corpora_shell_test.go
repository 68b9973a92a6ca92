package main

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
)

// A sample is a command line of a public corpus.
type sample struct {
	program string // that a page is about; "": unknown
	use     string // of the command, as "shell" in GTFOBins; "": ordinary
	text    string
}

// placeholder matches a place of a page of tldr that a reader fills in. Of alternatives, the last one is long.
var placeholder = regexp.MustCompile(`\{\{(.*?)\}\}`)

// tldrCommands reads the commands of the English pages of tldr, with the words of the placeholders.
func tldrCommands(dir string) (all []sample, err error) {
	pages, err := filepath.Glob(filepath.Join(dir, "pages", "*", "*.md"))
	if err == nil && pages == nil {
		err = errors.New("there is no folder pages")
	}
	for _, page := range pages {
		if system := filepath.Base(filepath.Dir(page)); system != "common" && system != "linux" {
			continue
		}
		data, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			text, code := strings.CutPrefix(strings.TrimSpace(line), "`")
			if !code {
				continue
			}
			text = placeholder.ReplaceAllStringFunc(strings.TrimSuffix(text, "`"), func(p string) string {
				p = strings.Trim(p, "{[]}")
				return p[strings.LastIndex(p, "|")+1:]
			})
			all = append(all, sample{program: strings.TrimSuffix(filepath.Base(page), ".md"), text: text})
		}
	}
	return all, err
}

// nl2bashCommands reads the commands of nl2bash.
func nl2bashCommands(dir string) (all []sample, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "data", "bash", "all.cm"))
	for line := range strings.Lines(string(data)) {
		all = append(all, sample{text: strings.TrimSpace(line)})
	}
	return all, err
}

// gtfobinsCommands reads the commands of one line of GTFOBins with which a program starts another one.
func gtfobinsCommands(dir string) (all []sample, err error) {
	pages, err := filepath.Glob(filepath.Join(dir, "_gtfobins", "*"))
	if err == nil && pages == nil {
		err = errors.New("there is no folder _gtfobins")
	}
	use := regexp.MustCompile(`^  ([a-z-]+):$`)
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		s := sample{program: strings.TrimSuffix(filepath.Base(page), ".md")}
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			if m := use.FindStringSubmatch(line); m != nil {
				s.use = m[1]
			}
			switch s.use {
			case "shell", "command", "reverse-shell", "bind-shell":
			default:
				continue
			}
			if !strings.HasSuffix(line, "code: |-") || i+2 >= len(lines) {
				continue
			}
			s.text = strings.TrimSpace(lines[i+1])
			indent := len(lines[i+1]) - len(strings.TrimLeft(lines[i+1], " "))
			if strings.HasPrefix(lines[i+2], strings.Repeat(" ", indent)) { // further lines are typed into the program
				continue
			}
			if first, _, _ := strings.Cut(s.text, " "); path.Base(first) == s.program {
				all = append(all, s)
			}
		}
	}
	return all, err
}

// call returns a call of a tool that runs a command.
func call(command string) agent.ToolCallRequest {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // a text can be encoded
	}
	return agent.ToolCallRequest{Name: "bash", Args: args}
}

// commandCorpora read the commands in the folder of a corpus.
var commandCorpora = map[string]func(dir string) ([]sample, error){
	"tldr": tldrCommands, "nl2bash": nl2bashCommands, "gtfobins": gtfobinsCommands,
}

// judge counts the commands that shell.Guard denies with its default rules, and those that it asks a person about.
func judge(t *testing.T, samples []sample) (denied, asked int) {
	guard := new(shell.Guard)
	for _, s := range samples {
		outcome, err := guard.OnPermission(t.Context(), nil, call(s.text))
		if err != nil {
			t.Fatalf("%s: %v", s.text, err)
		}
		switch outcome.(type) {
		case agent.Deny:
			denied++
		case agent.Ask:
			asked++
		}
	}
	return denied, asked
}

// An own is the result of rules that each allow the programs of one command, as "find *".
type own struct {
	allowed  int
	reported int // of the allowed ones: those whose rule is reported when it is made
	silent   []string
}

// byOwnRule tries a rule for the programs of each command.
func byOwnRule(t *testing.T, samples []sample) (n own) {
	for _, s := range samples {
		programs := []string{s.program}
		if s.use == "" { // ordinary: a rule for each program that the text names
			programs = nil
			commands, _ := shell.Parse(s.text)
			for _, c := range commands {
				programs = append(programs, c.Program)
			}
		}
		var globs []string
		for _, program := range programs {
			if program != "" {
				globs = append(globs, program, program+" *")
			}
		}
		if globs == nil {
			continue
		}
		rule := shell.CommandGlob("command", globs...).In(shell.Bash)
		if ok, err := rule.MatchEvery(call(s.text)); !ok || err != nil {
			continue
		}
		n.allowed++
		if rule.Warning() != "" {
			n.reported++
		} else {
			n.silent = append(n.silent, s.text)
		}
	}
	return n
}

// reportCommands prints how often the guard and rules stop the commands of a corpus.
func reportCommands(t *testing.T, name string, samples []sample) {
	denied, asked := judge(t, samples)
	t.Logf("%s: of %d commands, shell.Guard denies %d (%s) and asks about %d (%s)", name, len(samples),
		denied, share(denied, len(samples)), asked, share(asked, len(samples)))
	n := byOwnRule(t, samples)
	t.Logf("%s: a rule for the programs of the command allows %d (%s)", name, n.allowed, share(n.allowed, len(samples)))
	if len(samples) > 0 && samples[0].use != "" {
		t.Logf("%s: of the allowed ones, %d are of rules that are reported when they are made; the others:\n%s", name,
			n.reported, strings.Join(n.silent, "\n"))
	}
}
