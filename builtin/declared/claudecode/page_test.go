package claudecode

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

func TestThePageListsEveryEvent(t *testing.T) {
	page, err := os.ReadFile("../../../docs/agents/claude-code.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, known []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]\w+) \| (\w+)`).FindAllSubmatch(page, -1) {
		listed = append(listed, string(row[1]))
		if slices.Contains(events, string(row[1])) == (string(row[2]) == "none") {
			t.Errorf("the page is wrong about %s", row[1])
		}
	}
	known = slices.Concat(events, foreign)
	slices.Sort(listed)
	slices.Sort(known)
	if !slices.Equal(listed, known) {
		t.Errorf("the page lists %d events, the package knows %d", len(listed), len(known))
	}
}
