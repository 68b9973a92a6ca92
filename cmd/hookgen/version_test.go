package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/version"
)

func TestEachSpellingPrintsTheVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version", "-version"} {
		t.Run(arg, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run([]string{arg}, &stdout, &stderr); code != fine || stderr.Len() > 0 ||
				stdout.String() != version.Text("hookgen") {
				t.Errorf("exit code %d, printed %q and %q", code, &stdout, &stderr)
			}
		})
	}
}

func TestVersionTakesNoArguments(t *testing.T) {
	for _, args := range [][]string{{"version", "mail"}, {"version", "-o", "mail"}, {"-json", "version"},
		{"--version", "mail"}, {"mail", "--version"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(args, &stdout, &stderr); code != trouble || stdout.Len() > 0 || stderr.Len() == 0 {
				t.Errorf("exit code %d, printed %q and %q", code, &stdout, &stderr)
			}
		})
	}
}
