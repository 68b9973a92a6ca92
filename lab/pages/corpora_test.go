package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"mime/quotedprintable"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/internal/leaks"
)

// A rule is the samples of a rule of a public corpus.
type rule struct {
	Rule               string
	Regex              string // finds the secret in a positive sample; "": the whole sample is secret
	Group              int    // of the secret; 0: the first one that is not empty
	Positive, Negative []string
}

// gitleaksRecorder replaces the file of gitleaks that checks the samples of its rules, so that the generator writes
// them.
const gitleaksRecorder = `package utils

import (
	"encoding/json"
	"os"

	"github.com/zricethezav/gitleaks/v8/config"
)

var out = json.NewEncoder(os.Stdout)

func Validate(r config.Rule, positive, negative []string) *config.Rule {
	pattern := ""
	if r.Regex != nil {
		pattern = r.Regex.String()
	}
	out.Encode(map[string]any{
		"Rule": r.RuleID, "Regex": pattern, "Group": r.SecretGroup, "Positive": positive, "Negative": negative})
	return &r
}

func ValidateWithPaths(r config.Rule, positive, negative map[string]string) *config.Rule {
	return Validate(r, values(positive), values(negative))
}

func values(m map[string]string) (list []string) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
`

// gitleaksRules draws the samples of the rules in a folder with the source of gitleaks. It runs the program that
// generates the rules in a copy of the folder.
func gitleaksRules(dir string) ([]rule, error) {
	copied, err := os.MkdirTemp("", "gitleaks-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(copied)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		return nil, err
	}
	generator := filepath.Join(copied, "cmd", "generate", "config")
	recorder := filepath.Join(generator, "utils", "validate.go")
	if err := os.Remove(recorder); err != nil {
		return nil, fmt.Errorf("%s is not the source of gitleaks: %w", dir, err)
	}
	if err := os.WriteFile(recorder, []byte(gitleaksRecorder), 0o600); err != nil {
		return nil, err
	}
	run := exec.Command("go", "run", ".", filepath.Join(copied, "rules.toml"))
	run.Dir, run.Env, run.Stderr = generator, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"), os.Stderr
	samples, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("the generator of gitleaks failed: %w", err)
	}
	var rules []rule
	decoder := json.NewDecoder(bytes.NewReader(samples))
	for decoder.More() {
		var r rule
		if err := decoder.Decode(&r); err != nil {
			return nil, err
		}
		if r.Regex != "" { // a rule of paths
			rules = append(rules, r)
			continue
		}
		rules = append(rules, rule{Rule: r.Rule, Negative: r.Negative})
	}
	return rules, nil
}

// quoted finds the texts of Go and Python in the tests of a corpus.
var quoted = regexp.MustCompile("\"([^\"\\\\\n]{8,400})\"|`([^`]{8,1000})`|'([^'\\\\\n]{8,400})'")

// trufflehogRules reads the patterns that the tests of the detectors of trufflehog call valid, and puts each after the
// name of its detector.
func trufflehogRules(dir string) ([]rule, error) {
	rules, err := testRules(filepath.Join(dir, "pkg", "detectors"), "_test.go",
		regexp.MustCompile(`(?i)^\s*valid\w*\s*:?=`), regexp.MustCompile(`(?i)^\s*invalid\w*\s*:?=`))
	for i, r := range rules {
		rules[i].Regex = `(?s)= '(.*)'$`
		for n, sample := range r.Positive {
			r.Positive[n] = r.Rule + "_token = '" + sample + "'"
		}
	}
	return rules, err
}

// presidioRules reads the texts in which the tests of the recognizers of presidio expect one result, or none. The
// personal data in a text is its number or address.
func presidioRules(dir string) ([]rule, error) {
	rules, err := testRules(filepath.Join(dir, "presidio-analyzer", "tests"), "_recognizer.py",
		regexp.MustCompile(`^\s*\(["'].*["'],\s*1\b`), regexp.MustCompile(`^\s*\(["'].*["'],\s*0\b`))
	for i := range rules {
		rules[i].Regex = `[\w.+-]+@[\w.-]+|[A-Z]{2}\d[\dA-Z ]{10,}|[+(]?\d[\d() .-]{5,}\d`
	}
	return rules, err
}

// testRules reads the first text in each line of the tests below a folder that begins as a positive or negative sample.
func testRules(dir, suffix string, positive, negative *regexp.Regexp) (rules []rule, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r := rule{Rule: strings.TrimSuffix(filepath.Base(path), suffix)}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			text := quoted.FindStringSubmatch(lines.Text())
			switch {
			case text == nil:
			case negative.MatchString(lines.Text()):
				r.Negative = append(r.Negative, text[1]+text[2]+text[3])
			case positive.MatchString(lines.Text()):
				r.Positive = append(r.Positive, text[1]+text[2]+text[3])
			}
		}
		rules = append(rules, r)
		return lines.Err()
	})
	return rules, err
}

// secret returns the secret of a positive sample, or "".
func (r rule) secret(pattern *regexp.Regexp, sample string) string {
	if r.Regex == "" {
		return sample
	}
	groups := pattern.FindStringSubmatch(sample)
	if groups == nil {
		return ""
	}
	if r.Group > 0 {
		return groups[r.Group]
	}
	for _, g := range groups[1:] {
		if g != "" {
			return g
		}
	}
	return groups[0]
}

// A context puts a sample into a text of its kind.
type context struct {
	name string
	text func(sample string) string
}

func around(before, after string) func(string) string {
	return func(sample string) string { return before + sample + after }
}

// contexts are the texts around a sample.
var contexts = []context{
	{"alone", around("", "")}, {"prose", around("Please use ", " for the deployment, and tell me when it is done.")},
	{"quotation marks", around("He wrote “", "” and left.")}, {"color", around("ok \x1b[32m", "\x1b[0m done")},
	{"color after a word", around("value\x1b[1;31m", "\x1b[m")}, {"set of characters", around("\x1b(B", "\x1b(B\x1b[m")},
	{"escape sequence", around("\x1bM", "\x1bc")}, {"table", around("│ 3 │ ", " │ ok │")},
	{"narrow table", around("│", "│")},
	{"table of Markdown", around("| name | value |\n|---|---|\n| x | ", " | y |\n")}, {"Chinese", around("请使用", "来部署")},
	{"Japanese", around("キーは「", "」です")}, {"no-break space", around("the\u00a0", "\u00a0end")}, {"emoji", around("🔑", "🔒")},
	{"JSON", func(s string) string { return `{"output":` + jsonText(s) + `,"n":1}` }},
	{"JSON in JSON", func(s string) string { return `{"output":` + jsonText(`{"a":`+jsonText(s)+`}`) + `}` }},
	{"color in JSON", func(s string) string { return `{"out":` + jsonText("\x1b[31m"+s+"\x1b[0m") + `}` }},
	{"XML", around("<log><line>", "</line></log>")},
	{"escaped XML", func(s string) string {
		return "<line>" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s) + "</line>"
	}},
	{"header", around("GET / HTTP/1.1\r\nHost: example.org\r\nX-Note: ", "\r\nAccept: */*\r\n\r\n")},
	{"quoted-printable", func(s string) string {
		var b strings.Builder
		w := quotedprintable.NewWriter(&b)
		_, _ = w.Write([]byte("Hello team, this is the text of our mail: " + s + " and that is all of it.\r\n"))
		_ = w.Close()
		return b.String()
	}},
	{"URL", func(s string) string { return "https://example.org/?q=" + url.QueryEscape(s) + "&x=1" }},
	{"command over lines", around("deploy \\\n  --note ", " \\\n  --yes")},
	{"diff", around("@@ -1,2 +1,2 @@\n-old line\n+", "\n context")}, {"list", around("- first\n- ", "\n- last\n")},
	{"log", around("2026-11-20T09:30:02.900Z INFO  [worker-3] main.go:31: got ", "\n")},
	{"comment", around("x := 1 // ", "\n")},
}

// jsonText returns a text in JSON.
func jsonText(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a text can be encoded
	}
	return string(data)
}

// A rate is the result for the samples of a corpus.
type rate struct {
	found, positive   int
	changed, negative int
}

// positives counts the secrets of the positive samples that a redactor removes in a context.
func positives(r *redact.Redactor, rules []rule, c context) (n rate) {
	for _, rule := range rules {
		pattern := regexp.MustCompile(rule.Regex)
		for _, sample := range rule.Positive {
			secret := rule.secret(pattern, sample)
			if secret == "" {
				continue
			}
			n.positive++
			clean := strings.ReplaceAll(r.Text(c.text(sample)), "=\r\n", "")
			clean = marks.ReplaceAllString(clean, "")
			if leaks.Remains(clean, secret) == "" {
				n.found++
			}
		}
	}
	return n
}

// negatives counts the negative samples that a redactor changes.
func negatives(r *redact.Redactor, rules []rule) (n rate) {
	for _, rule := range rules {
		for _, sample := range rule.Negative {
			n.negative++
			if r.Text(sample) != sample {
				n.changed++
			}
		}
	}
	return n
}

// corpora are the folders of the flag -corpus.
var corpora []string

func init() {
	flag.Func("corpus", "NAME=FOLDER: the source of gitleaks, trufflehog, presidio, tldr, nl2bash or gtfobins; repeatable",
		func(arg string) error {
			corpora = append(corpora, arg)
			return nil
		})
}

// TestCorpora prints what redact and gitleaks find in the samples of the sources in the folders of -corpus, and what
// package shell does with the command lines in others:
//
//	go test ./lab/pages -run Corpora -v -corpus gitleaks=DIR -corpus trufflehog=DIR -corpus presidio=DIR
//	go test ./lab/pages -run Corpora -v -corpus tldr=DIR -corpus nl2bash=DIR -corpus gtfobins=DIR
func TestCorpora(t *testing.T) {
	readers := map[string]func(dir string) ([]rule, error){
		"gitleaks": gitleaksRules, "trufflehog": trufflehogRules, "presidio": presidioRules,
	}
	for _, arg := range corpora {
		name, dir, _ := strings.Cut(arg, "=")
		if read := commandCorpora[name]; read != nil {
			samples, err := read(dir)
			if err != nil {
				t.Fatal(err)
			}
			reportCommands(t, name, samples)
			continue
		}
		if readers[name] == nil {
			t.Fatalf("%s is not a corpus: give NAME=FOLDER with gitleaks, trufflehog, presidio, tldr, nl2bash or gtfobins", name)
		}
		rules, err := readers[name](dir)
		if err != nil {
			t.Fatal(err)
		}
		r := &redact.Redactor{KeepPersonal: name != "presidio", KeepSecrets: name == "presidio"}
		for i, c := range contexts {
			if n := positives(r, rules, c); i == 0 || name == "gitleaks" {
				t.Logf("%s, %s: redact finds %d of %d (%s)", name, c.name, n.found, n.positive, share(n.found, n.positive))
			}
		}
		n := negatives(r, rules)
		found, reported, err := byGitleaks(rules)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s, alone: gitleaks finds %d", name, found)
		t.Logf("%s, negative samples: redact changes %d of %d, gitleaks reports %d", name, n.changed, n.negative, reported)
	}
}

// byGitleaks counts the positive samples whose secret gitleaks finds, and the negative samples that it reports.
func byGitleaks(rules []rule) (found, reported int, err error) {
	var texts, secrets []string
	for _, r := range rules {
		pattern := regexp.MustCompile(r.Regex)
		for _, sample := range r.Positive {
			texts, secrets = append(texts, sample), append(secrets, r.secret(pattern, sample))
		}
	}
	positive := len(texts)
	for _, r := range rules {
		texts = append(texts, r.Negative...)
	}
	findings, err := scan(texts)
	if err != nil {
		return 0, 0, err
	}
	for i, f := range findings {
		switch {
		case i >= positive && len(f) > 0:
			reported++
		case i < positive && secrets[i] != "" && reports(f, secrets[i]):
			found++
		}
	}
	return found, reported, nil
}

// TestSamplesOfGitleaksAreRedacted draws the samples of the rules of gitleaks, as a module of its version.
func TestSamplesOfGitleaksAreRedacted(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator of gitleaks, which needs a network the first time")
	}
	download := exec.Command("go", "mod", "download", "-json", gitleaks)
	download.Dir = t.TempDir()
	data, err := download.Output()
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(data, &module)
	}
	if err != nil {
		t.Fatalf("go mod download: %v\n%s", err, data)
	}
	rules, err := gitleaksRules(module.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &redact.Redactor{KeepPersonal: true}
	if n := negatives(r, rules); n.negative < 370 || n.changed > 60 {
		t.Errorf("%d of %d negative samples are changed, more than 60", n.changed, n.negative)
	}
	if len(contexts) < 25 {
		t.Errorf("%d contexts", len(contexts))
	}
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			if n := positives(r, rules, c); n.positive < 6000 || 100*n.found < 97*n.positive {
				t.Errorf("%d of %d positive samples are found, less than 97 %%", n.found, n.positive)
			}
		})
	}
}
