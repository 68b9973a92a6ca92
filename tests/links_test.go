package tests

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookgen/hookgen/internal/usermodule"
)

var (
	fencedBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestLinksOfPages follows the links from a page to files and headings of this repository.
func TestLinksOfPages(t *testing.T) {
	root := usermodule.Root(t)
	checked := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "testdata", "node_modules"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		for _, link := range pageLink.FindAllStringSubmatch(readPage(t, name), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			checked++
			file, heading, _ := strings.Cut(link[1], "#")
			target := name
			if file != "" {
				target = filepath.Join(filepath.Dir(name), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link[1])
			} else if heading != "" && !slices.Contains(anchorsOf(readPage(t, target)), heading) {
				t.Errorf("%s links to %s, which has no such heading", name, link[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 20 {
		t.Errorf("the pages have %d links", checked)
	}
}

// TestIndexesReachEveryPage follows docs/README.md to the index of each folder, and each index to the pages of its
// folder.
func TestIndexesReachEveryPage(t *testing.T) {
	docs := filepath.Join(usermodule.Root(t), "docs")
	folders, err := os.ReadDir(docs)
	if err != nil {
		t.Fatal(err)
	}
	first, pages := readPage(t, filepath.Join(docs, "README.md")), 0
	for _, folder := range folders {
		if !folder.IsDir() {
			if folder.Name() != "README.md" {
				t.Errorf("docs/%s is in no folder", folder.Name())
			}
			continue
		}
		if !strings.Contains(first, "]("+folder.Name()+"/README.md)") {
			t.Errorf("docs/README.md does not link the index of docs/%s", folder.Name())
		}
		index := readPage(t, filepath.Join(docs, folder.Name(), "README.md"))
		found, err := filepath.Glob(filepath.Join(docs, folder.Name(), "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range found {
			pages++
			name := filepath.Base(page)
			if name != "README.md" && !strings.Contains(index, "]("+name+")") {
				t.Errorf("docs/%s/README.md does not link %s", folder.Name(), name)
			}
		}
	}
	if pages < 30 {
		t.Errorf("the folders have %d pages", pages)
	}
}

func TestExamplesHaveALine(t *testing.T) {
	examples := filepath.Join(usermodule.Root(t), "examples")
	index := readPage(t, filepath.Join(examples, "README.md"))
	programs, err := filepath.Glob(filepath.Join(examples, "*", "*.go"))
	if err != nil || len(programs) < 8 {
		t.Fatalf("%d programs (%v)", len(programs), err)
	}
	for _, program := range programs {
		if name := filepath.Base(filepath.Dir(program)); !strings.Contains(index, "]("+name+"/") {
			t.Errorf("examples/README.md does not link %s", name)
		}
	}
}

// anyLength are pages whose lines have any length, because programs write them.
var anyLength = []string{
	"lab/bench/RESULTS.md", "docs/evidence/proof.md", "docs/agents/agent-points.md",
}

// People read pages in a terminal too, and a change of a short line has a short diff. Tables and HTML cannot be
// wrapped.
func TestPagesHaveShortLines(t *testing.T) {
	root := os.DirFS(usermodule.Root(t))
	pages := 0
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "testdata", "node_modules"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md" || slices.Contains(anyLength, name):
			return nil
		}
		pages++
		for line := range strings.Lines(readPage(t, filepath.Join(usermodule.Root(t), name))) {
			line = strings.TrimRight(line, "\r\n")
			table := strings.HasPrefix(strings.TrimSpace(line), "|")
			made := strings.HasPrefix(line, "Made by ") || strings.HasPrefix(line, "<")
			if utf8.RuneCountInString(line) > 120 && !table && !made {
				t.Errorf("%s has a line of more than 120 columns: %s", name, line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 20 {
		t.Errorf("%d pages were read", pages)
	}
}

// readPage returns the text of a page without its blocks of code.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return fencedBlock.ReplaceAllString(string(text), "")
}

// anchorsOf returns the anchors that a web page of the text has, one for each heading.
func anchorsOf(text string) []string {
	var anchors []string
	for _, heading := range pageHeading.FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1]))
	}
	return anchors
}
