// Package version describes a command of this module for bug reports: its version, Go, and its source. Start with
// [Text].
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// Asked reports whether the only argument is --version, with one dash or two as all flags.
func Asked(args []string) bool {
	return len(args) == 1 && (args[0] == "--version" || args[0] == "-version")
}

// Text returns the facts that a bug report needs, one per line: the version of the command, of Go, and of the source.
func Text(command string) string {
	text := fmt.Sprintf("%s %s\n%s %s/%s\n", command, gen.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		text += origin(info) + "\n"
	}
	return text
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
