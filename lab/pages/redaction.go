package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/internal/leaks"
)

const draws = 10 // texts of each sample

// redaction returns the tables about package redact: the secrets that it finds in texts of real formats, and the
// ordinary texts that it changes, next to gitleaks, and its time. Only times, sizes and the figures of gitleaks are
// left out.
func redaction(m meter) (string, error) {
	rows, plain := classes(), ordinary()
	if m {
		if err := scanAll(rows, plain); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s and gitleaks %s.\n\n", m.made("redaction"), gitleaks[strings.LastIndexByte(gitleaks, '@')+1:])
	b.WriteString("| class | formats | texts | redact finds | and changes nothing else | gitleaks finds |\n" +
		"|---|---:|---:|---:|---:|---:|\n")
	all := row{class: "all"}
	for _, r := range rows {
		all.add(r)
	}
	for _, r := range append(rows, all) {
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s |\n", r.class, r.formats, r.texts, share(r.found, r.secrets),
			share(r.exact, r.texts), m.figure("%s", share(r.reported, r.secrets)))
	}
	b.WriteString("\n| ordinary text | size | redact changes | gitleaks reports | redact takes |\n" +
		"|---|---:|---:|---:|---:|\n")
	for _, text := range plain {
		took := ""
		if m {
			took = perMB(text.text)
		}
		fmt.Fprintf(&b, "| %s | %s | %d places | %s | %s |\n", text.name,
			m.figure("%.2f MB", megabytes(int64(len(text.text)))), places(text.text),
			m.figure("%d places", text.reported), m.figure("%s", took))
	}
	return b.String(), nil
}

// scanAll counts what gitleaks reports in the texts of all rows, and in ordinary texts.
func scanAll(rows []row, plain []plainText) error {
	var texts []string
	for _, r := range rows {
		for _, text := range r.drawn {
			texts = append(texts, text.Text)
		}
	}
	drawn := len(texts)
	for _, p := range plain {
		texts = append(texts, p.text)
	}
	found, err := scan(texts)
	if err != nil {
		return err
	}
	for i := range plain {
		plain[i].reported = len(found[drawn+i])
	}
	for i := range rows {
		for _, text := range rows[i].drawn {
			for _, secret := range text.Secrets {
				if reports(found[0], secret) {
					rows[i].reported++
				}
			}
			found = found[1:]
		}
	}
	return nil
}

// perMB returns the time that redact needs for a megabyte of a text: the shortest of several, since other programs may
// run on the machine.
func perMB(text string) string {
	best := time.Hour
	for range 20 {
		start := time.Now()
		new(redact.Redactor).Text(text)
		best = min(best, time.Since(start))
	}
	return fmt.Sprintf("%.0f ms/MB", best.Seconds()*1000/megabytes(int64(len(text))))
}

// A row is the result for the samples of one class.
type row struct {
	class          string
	formats, texts int
	secrets, found int
	exact          int // texts that are changed in no other place
	reported       int // secrets that gitleaks finds
	drawn          []leaks.Text
}

func (r *row) add(other row) {
	r.formats += other.formats
	r.texts += other.texts
	r.secrets += other.secrets
	r.found += other.found
	r.exact += other.exact
	r.reported += other.reported
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
			if marks.ReplaceAllString(clean, redact.Redacted) == text.Clean {
				rows[at].exact++
			}
		}
	}
	return rows
}

// A plainText is a large text without secrets.
type plainText struct {
	name, text string
	reported   int // findings of gitleaks
}

// ordinary returns the ordinary texts: those of package leaks, and files of this repository that hold no invented
// secrets.
func ordinary() []plainText {
	texts := leaks.Ordinary()
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all.WriteString(texts[name] + "\n")
	}
	return []plainText{
		{name: "code, logs, settings and prose", text: all.String()},
		{name: "Go files of hookkit, gen and loop", text: files("*.go", "hookkit", "gen", "loop")},
		{name: "docs", text: files("*.md", "docs/hooks", "docs/agents", "docs/evidence")},
		{name: "go.sum files", text: files("go.sum", ".", "lab/bench")},
		{name: "a megabyte of digits", text: strings.Repeat("4111111111111112", 1<<16)},
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
	return len(marks.FindAllString(clean, -1)) - len(marks.FindAllString(text, -1))
}

// marks are the marks of a Redactor. The name of a kind can be a part of a secret, as in github-token.
var marks = regexp.MustCompile(`\[REDACTED[a-z0-9:-]*\]`)
