package external_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestTheFilesOfThePageLoad(t *testing.T) {
	page, err := os.ReadFile("../../docs/declared-hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1)
	for _, b := range blocks {
		f := file(t, string(b[1]))
		f.Models = map[string]agent.Model{"": echo{"ok"}}
		load(t, f)
	}
	if len(blocks) == 0 {
		t.Error("the page has no file")
	}
}
