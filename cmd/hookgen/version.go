package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// version prints the facts that a bug report needs: the version of hookgen, of Go, and of the source.
func (i *invocation) version() {
	i.say("hookgen %s", gen.Version)
	i.say("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		i.say("%s", origin(info))
	}
}

// origin describes the source of this program: its module, and the commit if the go command recorded it.
func origin(info *debug.BuildInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s %s", info.Main.Path, info.Main.Version)
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" {
		fmt.Fprintf(&b, ", commit %s of %s", revision, settings["vcs.time"])
	}
	if settings["vcs.modified"] == "true" {
		b.WriteString(", with changes that are not committed")
	}
	return b.String()
}
