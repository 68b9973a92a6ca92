package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/hookgen/hookgen/internal/leaks"
)

// gitleaks is the version that package redact is compared with.
const gitleaks = "github.com/zricethezav/gitleaks/v8@v8.30.1"

// scan builds gitleaks in a temporary folder and returns its findings in texts, by the number of the text.
func scan(texts []string) ([][]finding, error) {
	dir, err := os.MkdirTemp("", "gitleaks-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	install := exec.Command("go", "install", gitleaks)
	install.Dir, install.Env = dir, append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gitleaks cannot be built: %w\n%s", err, out)
	}
	folder, report := filepath.Join(dir, "texts"), filepath.Join(dir, "report.json")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	name := func(i int) string { return fmt.Sprintf("%d.txt", i) }
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name(i)), []byte(text+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	run := exec.Command(filepath.Join(dir, "gitleaks"), "dir", folder, "--no-banner", "--exit-code", "0",
		"--report-format", "json", "--report-path", report)
	if out, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gitleaks failed: %w\n%s", err, out)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	var all []finding
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	byFile := map[string][]finding{}
	for _, f := range all {
		byFile[filepath.Base(f.File)] = append(byFile[filepath.Base(f.File)], f)
	}
	found := make([][]finding, len(texts))
	for i := range texts {
		found[i] = byFile[name(i)]
	}
	return found, nil
}

// A finding is an entry of the report of gitleaks.
type finding struct {
	Secret string
	File   string
}

// reports tells whether a finding has a part of the secret.
func reports(findings []finding, secret string) bool {
	return slices.ContainsFunc(findings, func(f finding) bool { return leaks.Remains(f.Secret, secret) != "" })
}
