package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/internal/leaks"
)

// A scanner is an installed gitleaks.
type scanner struct{ dir string }

// A finding is an entry of the report of gitleaks.
type finding struct {
	Secret string
	File   string
}

// install builds gitleaks in a temporary directory.
func install() (scanner, error) {
	dir, err := os.MkdirTemp("", "redaction")
	if err != nil {
		return scanner{}, err
	}
	build := exec.Command("go", "install", gitleaks)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "GOFLAGS=-mod=mod")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return scanner{}, fmt.Errorf("gitleaks cannot be built: %w\n%s", err, out)
	}
	return scanner{dir}, nil
}

// secrets returns for each row the number of secrets that gitleaks reports.
func (s scanner) secrets(rows []row) ([]int, error) {
	texts := filepath.Join(s.dir, "texts")
	if err := os.Mkdir(texts, 0o700); err != nil {
		return nil, err
	}
	name := func(row, text int) string { return fmt.Sprintf("text_%d_%d.txt", row, text) }
	for i, r := range rows {
		for j, text := range r.drawn {
			if err := os.WriteFile(filepath.Join(texts, name(i, j)), []byte(text.Text+"\n"), 0o600); err != nil {
				return nil, err
			}
		}
	}
	findings, _, err := s.scan(texts)
	if err != nil {
		return nil, err
	}
	by := make(map[string][]finding)
	for _, f := range findings {
		by[filepath.Base(f.File)] = append(by[filepath.Base(f.File)], f)
	}
	found := make([]int, len(rows))
	for i, r := range rows {
		for j, text := range r.drawn {
			for _, secret := range text.Secrets {
				if reported(by[name(i, j)], secret) {
					found[i]++
				}
			}
		}
	}
	return found, nil
}

// reported reports whether a finding has a part of the secret.
func reported(findings []finding, secret string) bool {
	for _, f := range findings {
		if leaks.Remains(f.Secret, secret) != "" {
			return true
		}
	}
	return false
}

// ordinary returns the number of findings in an ordinary text, and the time that gitleaks needs for it.
func (s scanner) ordinary(text sizedText) (int, time.Duration, error) {
	const times = 8 // so that the start of the program does not matter
	one, many := filepath.Join(s.dir, "one"), filepath.Join(s.dir, "many")
	defer os.RemoveAll(one)
	defer os.RemoveAll(many)
	for i := range times + 1 {
		dir := many
		if i == 0 {
			dir = one
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return 0, 0, err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("text_%d.txt", i)), []byte(text.text), 0o600); err != nil {
			return 0, 0, err
		}
	}
	findings, first, err := s.scan(one)
	if err != nil {
		return 0, 0, err
	}
	_, all, err := s.scan(many)
	size := float64(len(text.text)) / 1e6 * (times - 1)
	return len(findings), time.Duration(float64(all-first) / size), err
}

// scan returns the findings in a directory and the processor time.
func (s scanner) scan(dir string) ([]finding, time.Duration, error) {
	report := filepath.Join(s.dir, "report.json")
	run := exec.Command(filepath.Join(s.dir, "gitleaks"), "dir", dir, "--no-banner", "--exit-code", "0",
		"--report-format", "json", "--report-path", report)
	if out, err := run.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("gitleaks failed: %w\n%s", err, out)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return nil, 0, err
	}
	var findings []finding
	err = json.Unmarshal(data, &findings)
	return findings, run.ProcessState.UserTime(), err
}

// redactTime returns the time that redact needs for a megabyte of a text: the shortest of several, because the machine
// may be shared.
func redactTime(text string) time.Duration {
	best := time.Hour
	for range 20 {
		start := time.Now()
		new(redact.Redactor).Text(text)
		best = min(best, time.Since(start))
	}
	return time.Duration(float64(best) / (float64(len(text)) / 1e6))
}

func perMB(d time.Duration) string {
	if d <= 0 {
		return "not measurable"
	}
	return fmt.Sprintf("%d ms/MB", max(1, d.Milliseconds()))
}
