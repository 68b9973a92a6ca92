package main

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	fencedCode  = regexp.MustCompile("(?ms)^ {0,3}```.*?^ {0,3}```[^\n]*$")
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	heading     = regexp.MustCompile(`(?m)^## .*$`)
	date        = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

// checkChangelog refuses a changelog without a dated section for the version, and one with an empty section. The
// heading is "## [0.1.0] - 2026-01-31", or "## 0.1.0" without a date.
func checkChangelog(text, version string) error {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	// A heading in code or in a comment does not count.
	text = htmlComment.ReplaceAllString(fencedCode.ReplaceAllString(text, "code"), "")
	number := strings.TrimPrefix(version, "v")
	for _, at := range heading.FindAllStringIndex(text, -1) {
		title := strings.Fields(text[at[0]+len("## ") : at[1]])
		if len(title) == 0 || strings.TrimPrefix(strings.Trim(title[0], "[]"), "v") != number {
			continue
		}
		if rest := strings.TrimLeft(strings.Join(title[1:], " "), "-–— "); len(title) > 1 && !date.MatchString(rest) {
			return fmt.Errorf("CHANGELOG.md: the section of %s has no date but %q; write the date of the release as "+
				"## [%s] - 2026-01-31", version, rest, number)
		}
		section := text[at[1]:]
		if next := heading.FindStringIndex(section); next != nil {
			section = section[:next[0]]
		}
		for line := range strings.Lines(section) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && line[0] != '[' {
				return nil
			}
		}
		return fmt.Errorf("CHANGELOG.md: the section of %s is empty; say what is new for users", version)
	}
	return fmt.Errorf("CHANGELOG.md: there is no section for %s; add ## [%s] - 2026-01-31 with the date of the release",
		version, number)
}
