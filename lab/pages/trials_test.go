package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestEverySecurityHookHasAPromiseAndTrials(t *testing.T) {
	text, err := os.ReadFile("docs/evidence/security.md")
	if err != nil {
		t.Fatal(err)
	}
	promised, _, _ := strings.Cut(string(text), "<!-- trials -->")
	var named, promises []string
	for _, trial := range trials {
		named = append(named, strings.Split(trial.hook, ", ")...)
	}
	for line := range strings.Lines(promised) {
		if cells := strings.Split(line, " | "); len(cells) == 4 {
			promises = append(promises, strings.Split(strings.TrimPrefix(cells[0], "| "), ", ")...)
		}
	}
	want := []string{"shell.CommandGlob", "permission.PathGlob", "permission.Terminal", "permission.Remember",
		"guardrail.RedactPersonal", "redact.Redactor", "record.Audit", "builtin.Guards"}
	for _, room := range []string{"permission", "shell", "guardrail", "limit"} {
		hooks, _, err := hooksOf("builtin/" + room)
		if err != nil || len(hooks) == 0 {
			t.Errorf("%s has the hooks %q, %v", room, hooks, err)
		}
		for _, hook := range hooks {
			want = append(want, room+"."+hook)
		}
	}
	for _, hook := range want {
		t.Run(hook, func(t *testing.T) {
			if !slices.Contains(named, hook) {
				t.Error("trials.txt does not name it")
			}
			if !slices.Contains(promises, hook) {
				t.Error("docs/evidence/security.md has no promise of it")
			}
		})
	}
}

func TestEveryTrialNamesExistingTests(t *testing.T) {
	for _, trial := range trials {
		t.Run(trial.hook+" with "+trial.with, func(t *testing.T) {
			known, _, err := declared("builtin/"+trial.room, true)
			if err != nil || len(trial.tests) == 0 {
				t.Fatalf("there are no tests: %v", err)
			}
			for _, name := range trial.tests {
				if !slices.Contains(known, name) {
					t.Errorf("builtin/%s has no test %s", trial.room, name)
				}
			}
		})
	}
}

func TestCountsComeFromAttributesOrSubtests(t *testing.T) {
	outcomes := map[string]*outcome{
		"TestA": {Action: "pass", Listed: 3},
		"TestB": {Action: "pass", Listed: 3, Attrs: map[string]string{"tried": "10", "kept": "9"}},
		"TestC": {Action: "pass"},
		"TestE": {Action: "pass", Attrs: map[string]string{"tried": "x", "kept": "1"}},
	}
	for name, c := range map[string]struct {
		tests []string
		want  count
	}{
		"subtests":          {[]string{"TestA"}, count{3, 3}},
		"attributes":        {[]string{"TestB"}, count{10, 9}},
		"one case":          {[]string{"TestC"}, count{1, 1}},
		"a sum":             {[]string{"TestA", "TestB", "TestC"}, count{14, 13}},
		"a wrong attribute": {[]string{"TestE"}, count{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := trial{tests: c.tests}.count(outcomes)
			if c.want == (count{}) {
				if err == nil {
					t.Errorf("counted %+v", got)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("counted %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}
