package claudecode

import (
	_ "embed" // for the keys
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/internal/spelling"
)

// keyTable has the keys of settings, of their groups and handlers, and of answers and their objects, also keys that are
// not read. Each line has an object and one of its keys.
//
//go:embed keys.txt
var keyTable string

// keysOf has the keys of an object.
var keysOf = func() map[string][]string {
	all := make(map[string][]string)
	for line := range strings.Lines(keyTable) {
		object, key, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[object] = append(all[object], key)
	}
	return all
}()

// specificKeys are keys of hookSpecificOutput that scripts put into the answer itself.
var specificKeys = []string{"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}

// maxKey is the most characters of a key in an error.
const maxKey = 100

// checkKeys returns an error for a key that occurs twice, in any case, or that is a misspelled known one: package json
// and Claude Code read such keys differently, or not at all. For example, a script approves all calls instead of those
// of Read, because its group has the key matchr. Keys of other names are left to later versions of Claude Code.
func checkKeys(object []jsonx.Member, known []string) error {
	seen := make(map[string]bool)
	for _, m := range object {
		key := shorten.To(m.Key, maxKey)
		if meant := spelling.Suggest(m.Key, known); meant != "" && !slices.Contains(known, m.Key) {
			return fmt.Errorf("unknown key %q; did you mean %q?", key, meant)
		}
		folded := shorten.FoldCase(m.Key)
		if seen[folded] {
			return fmt.Errorf("the key %q occurs twice", key)
		}
		seen[folded] = true
	}
	return nil
}

// checkAnswer returns an error for an object in an answer whose decision is lost. For example, the script wrote
// permissionDecision outside of hookSpecificOutput, or hook_specific_output. In an answer that refuses, only keys that
// occur twice are errors. Inputs and outputs of tools can have any keys.
func checkAnswer(name string, object []byte, refuses bool) error {
	members, _ := jsonx.Members(object, -1)
	known := keysOf[name]
	if refuses {
		known = nil
	}
	if err := checkKeys(members, known); err != nil {
		return err
	}
	for _, m := range members {
		if name == "answer" && slices.Contains(specificKeys, m.Key) {
			return fmt.Errorf("%s belongs in hookSpecificOutput", m.Key)
		}
		if m.Key != "hookSpecificOutput" && m.Key != "decision" {
			continue
		}
		if err := checkAnswer(m.Key, m.Value, refuses); err != nil {
			return err
		}
	}
	return nil
}
