package main

import (
	"fmt"
	"strings"
	"time"
)

// checkChangelog refuses a changelog without a section for the version, and one whose section lists nothing. The
// heading is "## [0.1.0] - 2026-01-31", or "## 0.1.0" without a date.
func checkChangelog(text, version string) error {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	number := strings.TrimPrefix(version, "v")
	for section := range strings.SplitSeq("\n"+text, "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		name, day, dated := strings.Cut(title, " - ")
		if strings.Trim(name, "[]") != number {
			continue
		}
		if _, err := time.Parse(time.DateOnly, day); dated && err != nil {
			return fmt.Errorf("CHANGELOG.md: the section of %s has no date but %q; write the date of the release as "+
				"## [%s] - 2026-01-31", version, day, number)
		}
		if !strings.Contains(section, "\n- ") {
			return fmt.Errorf("CHANGELOG.md: the section of %s is empty; say what is new for users", version)
		}
		return nil
	}
	return fmt.Errorf("CHANGELOG.md: there is no section for %s; add ## [%s] - 2026-01-31 with the date of the release",
		version, number)
}
