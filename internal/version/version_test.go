package version

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
)

func TestTextHasWhatABugReportNeeds(t *testing.T) {
	text := Text("hooktool")
	want := "hooktool " + gen.Version + "\n" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\nmodule "
	if !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "\n") {
		t.Errorf("got %q, want %q and the module", text, want)
	}
}

func TestOnlyArgumentAsksForTheVersion(t *testing.T) {
	for args, want := range map[string]bool{"--version": true, "-version": true, "": false, "version": false,
		"-V=full": false, "--version x": false, "x --version": false} {
		t.Run(args, func(t *testing.T) {
			if got := Asked(strings.Fields(args)); got != want {
				t.Errorf("got %v", got)
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
