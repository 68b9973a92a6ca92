package main

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
)

func TestVersionPrintsWhatABugReportNeeds(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"version"}, &stdout, &stderr); code != fine || stderr.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, &stderr)
	}
	for _, want := range []string{"hookgen " + gen.Version + "\n", runtime.Version() + " " + runtime.GOOS, "module "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("there is no %q in:\n%s", want, &stdout)
		}
	}
}

func TestVersionTakesNoArguments(t *testing.T) {
	for _, args := range [][]string{{"version", "mail"}, {"version", "-o", "mail"}, {"-json", "version"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(args, &stdout, &stderr); code != trouble || stdout.Len() > 0 || stderr.Len() == 0 {
				t.Errorf("exit code %d, printed %q and %q", code, &stdout, &stderr)
			}
		})
	}
}

func TestOriginNamesTheCommit(t *testing.T) {
	info := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "example.com/m", Version: version}, Settings: settings}
	}
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}}
	for _, c := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"Released", info("v0.1.0"), "module example.com/m v0.1.0"},
		{"Clone", info("(devel)", commit...), "module example.com/m (devel), commit abc of 2026-01-02T03:04:05Z"},
		{"ChangedClone", info("(devel)", append(commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"})...),
			"module example.com/m (devel), commit abc of 2026-01-02T03:04:05Z, with changes that are not committed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := origin(c.info); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
