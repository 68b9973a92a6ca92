package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/internal/moduleproxy"
	"github.com/hookgen/hookgen/internal/usermodule"
)

var smallTags = []string{"v0.1.0", "contrib/a/v0.1.0", "contrib/b/v0.1.0"}

// publish releases a repository into a proxy in a directory whose path has a blank.
func publish(t *testing.T, dir string) (proxy string, tags []string) {
	t.Helper()
	proxy = filepath.Join(t.TempDir(), "a proxy, new")
	tags, err := release(t.Context(), dir, "v0.1.0", proxy, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return proxy, tags
}

// The environment of the person who releases does not matter.
func TestSmallReleaseInstalls(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work"))
	dir := commit(t, small)
	proxy, tags := publish(t, filepath.Join(dir, "contrib")) // from a directory inside
	if diff := cmp.Diff(smallTags, tags); diff != "" {
		t.Errorf("tags: want -, got +:\n%s", diff)
	}
	if status := git(t, dir, "status", "--porcelain"); status != "" {
		t.Errorf("with a proxy, the tree changed:\n%s", status)
	}
	env := []string{"GOPROXY=" + moduleproxy.URL(proxy) + ",off", "GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw",
		"GOSUMDB=off", "GONOPROXY=none", "GOBIN=" + t.TempDir()}
	for _, first := range []string{"", "/contrib/a", "/contrib/b", "/...", "/contrib/b/..."} {
		m := usermodule.New(t, env...)
		m.Run("go", "mod", "init", "example.com/user")
		m.Run("go", "get", "example.com/kit"+first+"@latest")
		m.Run("go", "get", "example.com/kit/contrib/b")
		m.Write("user.go", "package user\n\nimport _ \"example.com/kit/contrib/b\"\n")
		m.Run("go", "build", "./...")
		if version := strings.TrimSpace(m.Run("go", "list", "-m", "all")); !strings.Contains(version, "kit v0.1.0") {
			t.Errorf("after %q first, the modules are %s", first, version)
		}
		for _, part := range []string{"", "/contrib/a", "/contrib/b"} {
			text := m.Run("go", "mod", "download", "-json", "example.com/kit"+part+"@v0.1.0")
			_, text, _ = strings.Cut(text, `"Dir": "`)
			dir := strings.Split(text, `"`)[0]
			usermodule.New(t, env...).Run("go", "-C", dir, "mod", "tidy", "-diff") // with every checksum
			files := filesOf(t, dir)
			if files["LICENSE"] != "a license\n" || strings.Contains(files["go.mod"], "replace") || files["go.mod"] == "" {
				t.Errorf("%s has the license %q and the go.mod %s", part, files["LICENSE"], files["go.mod"])
			}
		}
	}
	usermodule.New(t, env...).Run("go", "install", "example.com/kit/contrib/a/cmd/a@v0.1.0")
}

// The tags of the commit that the tree then holds have the files of the proxy, and a revert restores the tree.
func TestPreparedTreeIsTheProxy(t *testing.T) {
	dir := commit(t, small)
	proxy, _ := publish(t, dir)
	before := filesOf(t, dir)
	tags, err := release(t.Context(), dir, "v0.1.0", "", io.Discard)
	if err != nil || !slices.Equal(tags, smallTags) {
		t.Fatalf("tags %q, error %v", tags, err)
	}
	want := strings.ReplaceAll(requires("../..", "contrib/a"), "v0.0.0", "v0.1.0")
	if text := filesOf(t, dir)["lab/bench/go.mod"]; !strings.Contains(text, want) {
		t.Errorf("a module that is not released keeps its replace directives, got:\n%s", text)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "Release v0.1.0")
	// The same version from the prepared commit: nothing changes.
	again, _ := publish(t, dir)
	if diff := cmp.Diff(withoutTimes(filesOf(t, proxy)), withoutTimes(filesOf(t, again))); diff != "" {
		t.Error("the proxy of the prepared commit differs")
	}
	git(t, dir, "revert", "--no-edit", "HEAD")
	if diff := cmp.Diff(before, filesOf(t, dir)); diff != "" {
		t.Errorf("after the revert, want -, got +:\n%s", diff)
	}
}

// withoutTimes removes the files with the times of commits.
func withoutTimes(files map[string]string) map[string]string {
	for name := range files {
		if strings.HasSuffix(name, ".info") {
			delete(files, name)
		}
	}
	return files
}

// Two runs write the same bytes, and so does a clone with other line ends.
func TestReleaseIsDeterministic(t *testing.T) {
	dir := commit(t, small)
	proxy, _ := publish(t, dir)
	windows := filepath.Join(t.TempDir(), "windows")
	git(t, dir, "clone", "-q", "--config", "core.autocrlf=true", ".", windows)
	git(t, windows, "-c", "core.autocrlf=true", "checkout", "-q", "HEAD", "--", ".")
	config := filepath.Join(t.TempDir(), "config")
	writeFile(t, config, "[core]\n\tautocrlf = true\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	for _, c := range []string{dir, windows} {
		again, _ := publish(t, c)
		if diff := cmp.Diff(filesOf(t, proxy), filesOf(t, again)); diff != "" {
			t.Errorf("%s: the proxies differ", c)
		}
	}
}

// A repository whose commit has the line ends of Windows.
func TestReleaseReadsWindowsLineEnds(t *testing.T) {
	files := map[string]string{}
	for name, text := range small {
		files[name] = strings.ReplaceAll(text, "\n", "\r\n")
	}
	proxy, tags := publish(t, commit(t, files))
	if diff := cmp.Diff(smallTags, tags); diff != "" {
		t.Errorf("tags: want -, got +:\n%s", diff)
	}
	for name, text := range filesOf(t, proxy) {
		if strings.HasSuffix(name, "b/@v/v0.1.0.mod") &&
			(strings.Contains(text, "replace") || !strings.Contains(text, "v0.1.0")) {
			t.Errorf("%s is\n%s", name, text)
		}
	}
}

// Every line of this table is a module of this repository, and what it requires can be released.
func TestModulesOfThisRepository(t *testing.T) {
	tree, err := readTree(usermodule.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.checkModules(); err != nil {
		t.Error(err)
	}
	for dir, reason := range unreleased {
		if tree.module(dir) == nil || reason == "" {
			t.Errorf("%s is not a module, or has no reason", dir)
		}
	}
}
