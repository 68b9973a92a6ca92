package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each case is a repository that is refused, and what the error says.
func TestReleaseStops(t *testing.T) {
	changelog := func(text string) map[string]string {
		return map[string]string{"CHANGELOG.md": "# Changelog\n\n" + text}
	}
	a := func(lines string) map[string]string {
		return map[string]string{"contrib/a/go.mod": small["contrib/a/go.mod"] + lines}
	}
	none := map[string]string(nil)
	for _, c := range []struct {
		name    string
		changed map[string]string // in the commit
		dirty   map[string]string // after the commit
		tags    string
		version string // v0.1.0 if empty
		want    string
	}{
		{"ChangedFile", none, map[string]string{"kit.go": "package kit\n"}, "", "",
			"differs from the last commit; commit, stash or remove these files:\n M kit.go"},
		{"UntrackedFile", none, map[string]string{"contrib/a/new.txt": "x"}, "", "", "?? contrib/a/new.txt"},
		{"NoVersion", none, none, "", "latest", `"latest" is not a version to release`},
		{"VersionWithoutV", none, none, "", "0.1.0", "write all three numbers"},
		{"ShortVersion", none, none, "", "v0.1", "write all three numbers"},
		{"BuildOfAVersion", none, none, "", "v0.1.0+linux", "write all three numbers"},
		{"PseudoVersion", none, none, "", "v0.1.1-0.20260131000000-0123456789ab", "write all three numbers"},
		{"VersionWithAZero", none, none, "", "v0.01.0", "write all three numbers"},
		{"MajorVersionWithoutPath", map[string]string{"gen/version.go": "package gen\n\nconst Version = \"v2.0.0\"\n"}, none,
			"", "v2.0.0", "should be v0 or v1"},
		{"SameVersionAsATag", none, none, "v0.1.0", "", "not newer than the tag v0.1.0; choose a higher version"},
		{"OlderThanATag", none, none, "v0.0.9 v0.10.0 v0.9.0", "", "not newer than the tag v0.10.0"},
		{"OlderThanATagOfAModule", none, none, "v0.0.9 contrib/a/v0.1.1", "", "not newer than the tag contrib/a/v0.1.1"},
		{"OlderThanATagOfAFormerModule", none, none, "contrib/gone/v0.2.0", "", "the tag contrib/gone/v0.2.0"},
		{"PrereleaseAfterTheRelease", map[string]string{"gen/version.go": "package gen\n\nconst Version = \"v0.1.0-rc.1\"\n"},
			none, "v0.1.0", "v0.1.0-rc.1", "not newer than the tag v0.1.0"},
		{"NoSection", changelog("## [0.0.9] - 2026-01-01\n\n- New.\n"), none, "", "", "there is no section for v0.1.0; add"},
		{"OtherSectionOnly", changelog("## [0.1.0-rc.1] - 2026-01-01\n\n- New.\n"), none, "", "", "there is no section"},
		{"UndatedSection", changelog("## [0.1.0] - Unreleased\n\n- New.\n"), none, "", "",
			`the section of v0.1.0 has no date but "Unreleased"; write the date`},
		{"EmptySection", changelog("## [0.1.0] - 2026-01-31\n\n## [0.0.9]\n\n- Old.\n"), none, "", "", "is empty; say what"},
		{"SectionOfTitles", changelog("## 0.1.0\n\n### Added\n\n[0.1.0]: https://example.com\n"), none,
			"", "", "is empty; say what"},
		{"OtherVersionInTheSource", map[string]string{"gen/version.go": "package gen\n\nconst Version = \"v0.2.0\"\n"},
			none, "", "", `gen/version.go: Version is not "v0.1.0"; set it`},
		{"NeedsAnUnreleasedModule", a("\nrequire example.com/kit/lab/bench v0.0.0\n"), none, "", "",
			"contrib/a/go.mod: it requires example.com/kit/lab/bench, which is not released; remove the line, or lab/bench " +
				"from"},
		{"NeedsAFormerModule", a("\nrequire example.com/kit/contrib/gone v0.0.0\n"), none, "", "",
			"requires example.com/kit/contrib/gone, which is not in this repository; remove"},
		{"ReplacesAnUnreleasedModule", a("\nreplace example.com/kit/lab/bench => ../../lab/bench\n"), none, "", "",
			"contrib/a/go.mod: it replaces example.com/kit/lab/bench, which is not released"},
		{"ReplacesByAnotherDirectory", map[string]string{"contrib/a/go.mod": strings.Replace(small["contrib/a/go.mod"],
			"=> ../..", "=> ../../../kit", 1)}, none, "", "", "which is not its directory; replace it by its directory ."},
		{"ReplacesByAVersion", map[string]string{"contrib/a/go.mod": strings.Replace(small["contrib/a/go.mod"],
			"=> ../..", "=> example.com/fork v0.1.0", 1)}, none, "", "", "which is not its directory"},
		{"ReplacesALibrary", a("\nreplace example.org/x => ../x\n"), none, "", "",
			"it replaces example.org/x, so go install refuses its programs; remove the replace directive"},
		{"ExcludesALibrary", a("\nexclude example.org/x v1.0.0\n"), none, "", "", "remove the exclude directive"},
		{"RequirementsDiffer", map[string]string{"contrib/b/go.mod": strings.Replace(small["contrib/b/go.mod"], "v0.0.0",
			"v0.0.1", 1)}, none, "", "",
			"contrib/b/go.mod: it requires example.com/kit/contrib/a@v0.0.1, other modules require version v0.0.0"},
		{"RequireEachOther", a(requires("../..", "contrib/b")), none, "", "",
			"it requires modules that require it; remove one"},
		{"OtherPathThanDirectory", map[string]string{"contrib/c/go.mod": "module example.com/c\n"}, none, "", "",
			"contrib/c/go.mod: the module is example.com/c, but its directory makes it example.com/kit/contrib/c; rename it"},
		{"WrongGoMod", map[string]string{"contrib/c/go.mod": "modul x\n"}, none, "", "", "contrib/c/go.mod:1"},
		{"MissingPackage", map[string]string{"contrib/b/b.go": "package b\n\nimport _ \"example.com/kit/contrib/a/gone\"\n"},
			none, "", "", "contrib/b: go mod tidy"},
		{"NewerGo", map[string]string{"contrib/b/go.mod": strings.Replace(small["contrib/b/go.mod"], "1.26.0", "1.999.0", 1)},
			none, "", "", "contrib/b: go mod tidy"},
		{"NameThatNoArchiveCanHave", map[string]string{"contrib/b/testdata/a'b.txt": "x"}, none, "", "", "a'b.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			t.Setenv("GOTOOLCHAIN", "local")
			t.Setenv("GOPROXY", "off")
			dir := commit(t, with(small, c.changed))
			for tag := range strings.FieldsSeq(c.tags) {
				git(t, dir, "tag", tag)
			}
			for name, text := range c.dirty {
				writeFile(t, filepath.Join(dir, name), text)
			}
			if c.version == "" {
				c.version = "v0.1.0"
			}
			before, above := filesOf(t, dir), t.TempDir()
			for _, proxy := range []string{"", filepath.Join(above, "proxy")} {
				tags, err := release(t.Context(), dir, c.version, proxy, io.Discard)
				if err == nil || !strings.Contains(err.Error(), c.want) || tags != nil {
					t.Errorf("with the proxy %q: tags %q, error %v, want %q", proxy, tags, err, c.want)
				}
			}
			if diff := cmp.Diff(before, filesOf(t, dir)); diff != "" {
				t.Errorf("the tree changed, want -, got +:\n%s", diff)
			}
			for _, d := range []string{above, temporary} {
				if left, err := os.ReadDir(d); err != nil || len(left) > 0 {
					t.Errorf("%v is left (%v)", left, err)
				}
			}
		})
	}
}

func TestReleaseNeedsARepository(t *testing.T) {
	git(t, t.TempDir(), "version")
	if _, err := release(t.Context(), t.TempDir(), "v0.1.0", "", io.Discard); err == nil ||
		!strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("got the error %v", err)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, ".", "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(commit(t, small)), shallow)
	if _, err := release(t.Context(), shallow, "v0.1.0", "", io.Discard); err == nil ||
		!strings.Contains(err.Error(), "run git fetch --unshallow --tags") {
		t.Errorf("got the error %v for a shallow clone", err)
	}
}

func TestReleaseKeepsAnExistingDirectory(t *testing.T) {
	repo, proxy := commit(t, small), t.TempDir()
	writeFile(t, filepath.Join(proxy, "mine"), "")
	if _, err := release(t.Context(), repo, "v0.1.0", proxy, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "exists; remove it, or name another directory") {
		t.Errorf("got the error %v for a directory with a file", err)
	}
	if _, err := release(t.Context(), repo, "v0.1.0", filepath.Join(proxy, "mine"), io.Discard); err == nil ||
		!strings.Contains(err.Error(), "exists; remove it, or name another directory") {
		t.Errorf("got the error %v for a file", err)
	}
}

// Both forms of a heading, and of line ends, are accepted.
func TestChangelogHeadings(t *testing.T) {
	for _, title := range []string{"## [0.1.0] - 2026-01-31", "## 0.1.0", "## [0.1.0]"} {
		text := "# Changelog\n\n## [Unreleased]\n\n" + title + "\n\n### Added\n\n- All.\n"
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), strings.TrimSuffix(text, "\n")} {
			if err := checkChangelog(text, "v0.1.0"); err != nil {
				t.Errorf("%q: %v", title, err)
			}
		}
	}
}

func FuzzChangelog(f *testing.F) {
	f.Add("## [0.1.0] - 2026-01-31\n\n- New.\n")
	f.Add("## 0.1.0 - Unreleased\n\n## [0.0.9]\n\n- Old.\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\r") {
			t.Skip()
		}
		unix, windows := checkChangelog(text, "v0.1.0"), checkChangelog(strings.ReplaceAll(text, "\n", "\r\n"), "v0.1.0")
		if (unix == nil) != (windows == nil) {
			t.Errorf("the line ends matter: %v, %v", unix, windows)
		}
		if unix == nil && !strings.Contains(text, "0.1.0") {
			t.Error("the version is not in the text")
		}
	})
}
