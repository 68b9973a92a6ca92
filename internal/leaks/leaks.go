// Package leaks holds texts with invented secrets in their usual context, to try redaction on them.
//
// The secrets are drawn when a text is made, so that no scanner of this repository reports them.
package leaks

import (
	_ "embed" // for the texts
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
)

//go:embed testdata/secrets.txt
var secrets string

// A Sample is a kind of text that contains secrets.
type Sample struct {
	Class    string // for example "YAML"
	Name     string
	template string
}

// A Text is one drawn text of a sample.
type Text struct {
	Text    string
	Secrets []string // the secrets, in order
	Clean   string   // the text with each secret replaced
}

// Samples returns all samples.
func Samples() []Sample {
	var samples []Sample
	for _, part := range strings.Split("\n"+secrets, "\n== ")[1:] {
		title, template, _ := strings.Cut(part, "\n")
		class, name, _ := strings.Cut(title, ": ")
		samples = append(samples, Sample{class, name, strings.TrimRight(template, "\n")})
	}
	return samples
}

// Draw returns a text of the sample. The same number yields the same text. Each secret in Clean is replaced by mark.
func (s Sample) Draw(number uint64, mark string) Text {
	h := fnv.New64a()
	fmt.Fprint(h, s.Class, s.Name)
	d := drawer{rand.New(rand.NewPCG(h.Sum64(), number))}
	var t Text
	rest := s.template
	for {
		before, after, found := strings.Cut(rest, "«")
		before = d.fill(before)
		t.Text, t.Clean = t.Text+before, t.Clean+before
		if !found {
			return t
		}
		secret, next, _ := strings.Cut(after, "»")
		secret = d.fill(secret)
		t.Text, t.Clean = t.Text+secret, t.Clean+mark
		t.Secrets = append(t.Secrets, secret)
		rest = next
	}
}

// Remains returns a part of a secret that text contains, or "". A part has at least half of the secret's longest run of
// drawn characters.
func Remains(text, secret string) string {
	size := max(6, len(secret)/3)
	if len(secret) < size {
		size = len(secret)
	}
	for at := 0; at+size <= len(secret); at += max(1, size/2) {
		if part := secret[at : at+size]; strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// sets are the characters that a template can draw from.
var sets = map[string]string{
	"digits":  "0123456789",
	"hex":     "0123456789abcdef",
	"HEX":     "0123456789ABCDEF",
	"letters": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"lower":   "abcdefghijklmnopqrstuvwxyz0123456789",
	"upper":   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"base32":  "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	"bech":    "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	"alnum":   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"word":    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
	"slug":    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz0123456789_-",
	"path":    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=",
	"std64":   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
}

// A drawer fills templates.
type drawer struct{ rand *rand.Rand }

// fill replaces each {set:n} by n drawn characters.
func (d drawer) fill(template string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, closed := strings.Cut(after, "}")
		text, ok := d.draw(name)
		if !closed || !ok {
			b.WriteByte('{')
			template = after
			continue
		}
		b.WriteString(text)
		template = rest
	}
}

// draw returns the text for the content of braces.
func (d drawer) draw(content string) (string, bool) {
	switch content {
	case "uuid":
		return fmt.Sprintf("%s-%s-4%s-a%s-%s", d.chars("hex", 8), d.chars("hex", 4), d.chars("hex", 3), d.chars("hex", 3),
			d.chars("hex", 12)), true
	case "pass": // letters, digits and a symbol, as people choose
		return d.chars("letters", 5) + d.chars("digits", 2) + string("!#$%*+-._~^"[d.rand.IntN(11)]) +
			d.chars("alnum", 4), true
	case "jwt":
		return "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + "eyJzdWIiOiI" + d.chars("alnum", 40) + "." +
			d.chars("slug", 42) + "a", true
	}
	set, count, _ := strings.Cut(content, ":")
	n, err := strconv.Atoi(count)
	if err != nil {
		return "", false
	}
	switch set {
	case "mixed": // letters and digits, both at least once
		return "a" + d.chars("alnum", n-4) + "7Zq", true
	case "pem":
		lines := make([]string, n)
		for i := range lines {
			lines[i] = d.chars("std64", 64)
		}
		return strings.Join(lines, "\n"), true
	}
	if sets[set] == "" {
		return "", false
	}
	return d.chars(set, n), true
}

func (d drawer) chars(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = sets[set][d.rand.IntN(len(sets[set]))]
	}
	return string(b)
}

//go:embed testdata/ordinary.txt
var ordinary string

// Ordinary returns texts without secrets by their names: code, logs, settings and prose.
func Ordinary() map[string]string {
	texts := make(map[string]string)
	for _, part := range strings.Split("\n"+ordinary, "\n== ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		texts[name] = text
	}
	return texts
}
