package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/moduleproxy"
	"github.com/hookgen/hookgen/internal/usermodule"
)

var compileAll = flag.Bool("compile", false, "compile every package, which takes minutes")

// large are the adapters whose libraries take minutes to compile. Without -compile, only their imports are resolved.
var large = regexp.MustCompile(`/contrib/(eino|sqlite|nats/embedded)$`)

// A user acts on a release like somebody who has only Go. Its steps are the table that -v prints.
type user struct {
	env   []string
	steps []string
}

// module makes an empty module.
func (u *user) module(t *testing.T) *usermodule.Module {
	t.Helper()
	m := usermodule.New(t, u.env...)
	m.Run("go", "mod", "init", "example.com/user")
	return m
}

// run runs a command that must succeed, and adds a line to the table.
func (u *user) run(t *testing.T, m *usermodule.Module, title string, command ...string) string {
	t.Helper()
	out, err := m.Try(command...)
	result := "ok"
	if err != nil {
		result = "FAILED: " + err.Error()
		t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	line := strings.ReplaceAll(strings.Join(command, " "), usermodule.Path, "$ROOT")
	u.steps = append(u.steps, fmt.Sprintf("| %s | `%s` | %s |", title, line, result))
	return out
}

// TestReleaseInstalls releases the working copy into a proxy, and acts on it as a user in empty modules. The module
// cache is empty at first.
func TestReleaseInstalls(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs; the other tests release a small repository")
	}
	dir := commit(t, workingCopy(t))
	proxy := filepath.Join(t.TempDir(), "proxy")
	if _, err := release(t.Context(), dir, gen.Version, proxy, io.Discard); err != nil {
		t.Fatal(err)
	}
	// This version of the root is a later one, whose internal packages have other names.
	const later = "v1.999.0"
	upgrade := t.TempDir()
	if err := moduleproxy.Add(upgrade, usermodule.Path, later, renamed(t, dir), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	// With -trimpath, the build cache has the libraries from the last run.
	bin := t.TempDir()
	u := &user{env: append(usermodule.ProxyEnv(t, proxy, upgrade), "GOFLAGS=-modcacherw -trimpath", "GOBIN="+bin)}
	defer func() { t.Logf("\n| step | command | result |\n|---|---|---|\n%s", strings.Join(u.steps, "\n")) }()
	tree, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all, released []string // public packages, and patterns of modules
	for _, m := range tree.sorted() {
		if !m.released() {
			continue
		}
		released = append(released, m.path()+"/...")
		t.Run("Alone/"+m.tag("module"), func(t *testing.T) {
			all = append(all, u.getAlone(t, m.path())...)
		})
	}
	t.Run("Together", func(t *testing.T) {
		module := u.module(t)
		u.run(t, module, "all together", append([]string{"go", "get"}, released...)...)
		u.use(t, module, "all together", all)
		u.build(t, module, "all together", all)
		u.run(t, module, "the root alone later", "go", "get", usermodule.Path+"@"+later)
		u.use(t, module, "the root alone later", all)
		if *compileAll {
			u.build(t, module, "the root alone later", all)
		}
		if text := module.Read("go.mod"); !strings.Contains(text, usermodule.Path+" "+later) ||
			!strings.Contains(text, "/contrib/mcp "+gen.Version) {
			t.Errorf("the root alone must be upgraded, got\n%s", text)
		}
	})
	t.Run("Commands", func(t *testing.T) { u.install(t, tree, bin) })
	pages := readPages(t, dir)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		t.Run(name, func(t *testing.T) { u.runPage(t, name, pages[name]) })
	}
	if pages["README.md"] == nil || len(pages) < 8 {
		t.Errorf("pages that install are missing: there are only %v", pages)
	}
}

// getAlone gets a module in an empty one, uses its public packages, and returns them. The go.sum of the module must
// have all checksums, because its own tests use them.
func (u *user) getAlone(t *testing.T, name string) (public []string) {
	module := u.module(t)
	u.run(t, module, "alone", "go", "get", name)
	u.run(t, module, "alone", "go", "get", name+"/...")
	list := u.run(t, module, "alone", "go", "list", "-f", "{{.Name}} {{.ImportPath}}", name+"/...")
	internal := regexp.MustCompile(`/(internal|testdata|lab|tests|examples?)(/|$)`)
	for line := range strings.Lines(list) {
		kind, p, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != "main" && !internal.MatchString(p) {
			public = append(public, p)
		}
	}
	if len(public) == 0 {
		t.Fatalf("%s has no public packages", name)
	}
	u.use(t, module, "alone", public)
	if name != usermodule.Path {
		dir := strings.TrimSpace(module.Run("go", "list", "-m", "-f", "{{.Dir}}", name))
		u.run(t, module, "its own files", "go", "-C", dir, "mod", "tidy", "-diff")
	}
	return public
}

// use writes a program that imports packages, and resolves all their imports.
func (u *user) use(t *testing.T, module *usermodule.Module, title string, packages []string) {
	t.Helper()
	text := "package user\n\nimport (\n"
	for _, p := range packages {
		text += fmt.Sprintf("\t_ %q\n", p)
	}
	module.Write("user.go", text+")\n")
	u.run(t, module, title, "go", "list", "-deps", ".")
}

// build compiles the adapters, with the packages of the root that they import, and with -compile everything. The tests
// of the pages compile packages of the root too.
func (u *user) build(t *testing.T, module *usermodule.Module, title string, packages []string) {
	t.Helper()
	command := []string{"go", "build"}
	for _, p := range packages {
		if *compileAll || strings.Contains(p, "/contrib/") && !large.MatchString(p) {
			command = append(command, p)
		}
	}
	u.run(t, module, title, command...)
}

// install installs every command in a folder named cmd.
func (u *user) install(t *testing.T, tree *tree, bin string) {
	installed := 0
	for _, m := range tree.sorted() {
		commands, err := filepath.Glob(filepath.Join(tree.path(m.dir), "cmd", "*", "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands {
			name := filepath.Base(filepath.Dir(c))
			if !m.released() {
				continue
			}
			u.run(t, usermodule.New(t, u.env...), "no module", "go", "install", m.path()+"/cmd/"+name+"@latest")
			installed++
		}
	}
	if installed < 4 {
		t.Errorf("there are only %d commands", installed)
	}
	out := u.run(t, usermodule.New(t, u.env...), "no module", filepath.Join(bin, "hookgen"), "version")
	want := "hookgen " + gen.Version + "\n"
	origin := "module " + usermodule.Path + " " + gen.Version
	if !strings.HasPrefix(out, want) || !strings.Contains(out, origin) {
		t.Errorf("hookgen version prints %q, want %q and %q", out, want, origin)
	}
}

// commands are those of a page that need the release, in blocks of code and in the text.
var commands = regexp.MustCompile("(?m)(?:^[ \\t]*|`)go (?:" +
	"(?:get|install|run)\\b[^`\\n]*" + regexp.QuoteMeta(usermodule.Path) + "[^` \\n]*|tool \\w+)")

// readPages returns the pages of the repository with their commands. The changelog and RELEASE.md have examples of old
// and future versions. Only README.md and getting started say how to get the tools that they run.
func readPages(t *testing.T, dir string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, text := range filesOf(t, dir) {
		if path.Ext(name) != ".md" || name == "CHANGELOG.md" || name == "RELEASE.md" {
			continue
		}
		first := name == "README.md" || path.Base(name) == "getting-started.md"
		for _, command := range commands.FindAllString(text, -1) {
			if command = strings.Trim(command, " \t`"); first || !strings.HasPrefix(command, "go tool ") {
				found[name] = append(found[name], command)
			}
		}
	}
	return found
}

// runPage runs the commands of a page in an empty module. The tests of the pages run go tool with all its arguments.
// Here it must find the tool that the page has got before.
func (u *user) runPage(t *testing.T, name string, commands []string) {
	module := u.module(t)
	for _, command := range commands {
		if called, ok := strings.CutPrefix(command, "go tool "); ok {
			command = "go tool -n " + called
		}
		u.run(t, module, name, strings.Fields(command)...)
	}
}

// workingCopy returns the files of this repository that git tracks, or would after git add. Its changelog has a
// section of the version.
func workingCopy(t *testing.T) map[string]string {
	t.Helper()
	root, files := usermodule.Root(t), map[string]string{}
	list := git(t, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for _, name := range slices.Compact(strings.Split(strings.TrimSuffix(list, "\x00"), "\x00")) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil && !os.IsNotExist(err) { // a file that is removed, but not in the index
			t.Fatal(err)
		}
		if err == nil {
			files[name] = string(text)
		}
	}
	files["CHANGELOG.md"] = "# Changelog\n\n## " + strings.TrimPrefix(gen.Version, "v") + "\n\n- All is new.\n"
	return files
}

// renamed returns a copy of the root module in which every package of the folder internal has another name.
func renamed(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for name, text := range filesOf(t, dir) {
		if rest, ok := strings.CutPrefix(name, "internal/"); ok {
			name = "internal/renamed/" + rest
		}
		if path.Ext(name) == ".go" {
			text = strings.ReplaceAll(text, `"`+usermodule.Path+"/internal/", `"`+usermodule.Path+"/internal/renamed/")
		}
		writeFile(t, filepath.Join(to, filepath.FromSlash(name)), text)
	}
	return to
}
