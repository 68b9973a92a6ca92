// Command redaction measures package builtin/redact: the secrets that it finds in texts of real formats, the ordinary
// texts that it changes, and its time, next to gitleaks. It replaces the tables in docs/evidence/redaction.md. Run it
// from the root of the repository:
//
//	go run ./lab/redaction -page
//
// It builds gitleaks from the Go proxy. Without -page it prints the tables. A test compares the columns about redact
// with the page.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/internal/leaks"
	"github.com/hookgen/hookgen/lab/figures"
)

const (
	gitleaks = "github.com/zricethezav/gitleaks/v8@v8.30.1"
	page     = "docs/evidence/redaction.md"
	draws    = 10 // texts of each sample
)

func main() {
	write := flag.Bool("page", false, "write the tables into "+page)
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "redaction:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	other, err := install()
	if err != nil {
		return err
	}
	defer os.RemoveAll(other.dir)
	tables, err := measure(other)
	if err != nil {
		return err
	}
	if !write {
		fmt.Print(tables)
		return nil
	}
	return figures.ReplacePart(page, "redaction", tables)
}

// measure returns the tables.
func measure(other scanner) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\nMade by `go run ./lab/redaction -page` on %s/%s with %s and gitleaks %s.\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.Version(), gitleaks[strings.LastIndexByte(gitleaks, '@')+1:])
	b.WriteString("| class | formats | texts | redact finds | and changes nothing else | gitleaks finds |\n" +
		"|---|---:|---:|---:|---:|---:|\n")
	rows := classes()
	found, err := other.secrets(rows)
	if err != nil {
		return "", err
	}
	var all row
	for i, r := range rows {
		all.add(r)
		fmt.Fprintf(&b, "%s %s |\n", r, share(found[i], r.secrets))
	}
	sum := 0
	for _, n := range found {
		sum += n
	}
	fmt.Fprintf(&b, "%s %s |\n\n", all, share(sum, all.secrets))

	b.WriteString("| ordinary text | size | redact changes | gitleaks reports | redact | gitleaks |\n" +
		"|---|---:|---:|---:|---:|---:|\n")
	for _, text := range ordinary() {
		reports, speed, err := other.ordinary(text)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %.2f MB | %d places | %d places | %s | %s |\n", text.name, float64(len(text.text))/1e6,
			places(text.text), reports, perMB(redactTime(text.text)), perMB(speed))
	}
	return b.String(), nil
}

// A row is the result for the samples of one class.
type row struct {
	class          string
	formats, texts int
	secrets, found int
	exact          int
	drawn          []leaks.Text
}

func (r *row) add(other row) {
	r.class = "all"
	r.formats += other.formats
	r.texts += other.texts
	r.secrets += other.secrets
	r.found += other.found
	r.exact += other.exact
}

func (r row) String() string {
	return fmt.Sprintf("| %s | %d | %d | %s | %s |", r.class, r.formats, r.texts, share(r.found, r.secrets),
		share(r.exact, r.texts))
}

func share(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }

// classes redacts the texts of all samples.
func classes() []row {
	r := &redact.Redactor{KeepPersonal: true}
	var rows []row
	for _, sample := range leaks.Samples() {
		at := slices.IndexFunc(rows, func(r row) bool { return r.class == sample.Class })
		if at < 0 {
			at = len(rows)
			rows = append(rows, row{class: sample.Class})
		}
		rows[at].formats++
		for n := range uint64(draws) {
			text := sample.Draw(n, redact.Redacted)
			clean := r.Text(text.Text)
			rows[at].texts++
			rows[at].drawn = append(rows[at].drawn, text)
			for _, secret := range text.Secrets {
				rows[at].secrets++
				if leaks.Remains(clean, secret) == "" {
					rows[at].found++
				}
			}
			if clean == text.Clean {
				rows[at].exact++
			}
		}
	}
	return rows
}

// A sizedText is a large text without secrets.
type sizedText struct{ name, text string }

// ordinary returns the ordinary texts: those of package leaks, and files of this repository that hold no invented
// secrets.
func ordinary() []sizedText {
	texts := leaks.Ordinary()
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var all strings.Builder
	for _, name := range names {
		all.WriteString(texts[name] + "\n")
	}
	return []sizedText{
		{"code, logs, settings and prose", all.String()},
		{"Go files of hookkit, gen and loop", files("*.go", "hookkit", "gen", "loop")},
		{"docs", files("*.md", "docs/hooks", "docs/agents", "docs/evidence")},
		{"go.sum files", files("go.sum", ".", "bench")},
		{"a megabyte of digits", strings.Repeat("4111111111111112", 1<<16)},
	}
}

// files returns the content of the files in directories whose name matches pattern.
func files(pattern string, dirs ...string) string {
	var all strings.Builder
	for _, dir := range dirs {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			data, _ := os.ReadFile(name)
			all.Write(data)
		}
	}
	return all.String()
}

// places returns the number of places that redact changes.
func places(text string) int {
	clean := new(redact.Redactor).Text(text)
	return strings.Count(clean, redact.Redacted) - strings.Count(text, redact.Redacted)
}
