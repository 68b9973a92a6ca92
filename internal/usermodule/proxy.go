package usermodule

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/moduleproxy"
)

// Publish serves the working copy of this module as a version, from files, and returns the environment variables
// that select this proxy.
func Publish(t testing.TB, version string) (env []string) {
	t.Helper()
	dir := t.TempDir()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := moduleproxy.Add(dir, Path, version, Root(t), at); err != nil {
		t.Fatal(err)
	}
	return ProxyEnv(t, dir)
}

// ProxyEnv returns the environment variables that select proxies of files, the first one first. It uses a new module
// cache, because a cache never reads a version twice. Modules that the machine has downloaded already are served from
// its cache.
func ProxyEnv(t testing.TB, dirs ...string) (env []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, upstream, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	proxies := ""
	for _, dir := range append(dirs, filepath.Join(strings.TrimSpace(cache), "cache", "download")) {
		proxies += moduleproxy.URL(dir) + ","
	}
	return []string{
		"GOPROXY=" + proxies + upstream,
		"GOMODCACHE=" + t.TempDir(),
		"GOFLAGS=-mod=mod -modcacherw",
		"GOSUMDB=off", // the checksum database does not know this version
		"GONOPROXY=none", "GOPRIVATE=",
	}
}
