package loop

import (
	"fmt"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
)

// maxID is the longest id of a call in bytes. Each message and record of the call repeats it.
const maxID = 256

// identify sets the id, the step and missing arguments of each call. If a model uses an id twice, the second call gets
// a new id, and so does a call whose id is empty, too long or not valid UTF-8, because records are JSON. The result
// lists the original ids of such calls, with "" for the others; it is nil if all ids are kept.
func identify(step int, calls []agent.ToolCallRequest) (duplicates []string) {
	taken := make(map[string]bool, len(calls))
	clash := false
	for i := range calls {
		c := &calls[i]
		c.Step = step
		if len(c.ID) > maxID || !utf8.ValidString(c.ID) {
			c.ID = ""
		}
		if len(c.Args) == 0 {
			c.Args = []byte("{}")
		}
		clash = clash || c.ID == "" || taken[c.ID]
		taken[c.ID] = true
	}
	if !clash {
		return nil
	}
	tried := make(map[string]int) // by prefix, so that n calls with the same id take n tries
	fresh := func(begin string) string {
		for n := max(tried[begin], 1) + 1; ; n++ {
			if try := fmt.Sprintf("%s%d", begin, n); !taken[try] {
				taken[try], tried[begin] = true, n
				return try
			}
		}
	}
	duplicates = make([]string, len(calls))
	seen := make(map[string]bool, len(calls))
	for i := range calls {
		c := &calls[i]
		switch {
		case c.ID == "":
			c.ID = fresh(fmt.Sprintf("call_%d_%d_", step, i+1))
		case seen[c.ID]:
			duplicates[i] = c.ID
			c.ID = fresh(c.ID + "#")
		}
		seen[c.ID] = true
	}
	return duplicates
}
