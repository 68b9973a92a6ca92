package claudecode

import (
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/internal/spelling"
)

// The keys of settings, of their groups and handlers, and of answers, also those that are not read.
var (
	settingsKeys = []string{"hooks", "disableAllHooks", "permissions"}
	groupKeys    = []string{"matcher", "hooks"}
	handlerKeys  = []string{"type", "command", "args", "timeout", "if", "async", "asyncRewake", "statusMessage", "once",
		"shell", "prompt", "model", "url", "headers", "allowedEnvVars", "server", "tool", "input",
		"comment"} // which resembles command
	answerKeys = map[string][]string{ // by the object in the answer; "" is the answer itself
		"": {"continue", "decision", "hookSpecificOutput", "stopReason", "suppressOutput", "systemMessage",
			"terminalSequence", "reason", "async", "asyncTimeout"},
		"hookSpecificOutput": {"permissionDecision", "updatedInput", "decision", "hookEventName",
			"permissionDecisionReason", "additionalContext", "updatedToolOutput", "updatedMCPToolOutput",
			"classifierContext", "initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills",
			"suppressOriginalPrompt", "retry", "action", "content"},
		"decision": {"behavior", "updatedInput", "updatedPermissions", "message", "interrupt"},
	}
	specificKeys = []string{"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
)

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
	known := answerKeys[name]
	if refuses {
		known = nil
	}
	if err := checkKeys(members, known); err != nil {
		return err
	}
	for _, m := range members {
		if name == "" && slices.Contains(specificKeys, m.Key) {
			return fmt.Errorf("%s belongs in hookSpecificOutput", m.Key)
		}
		if answerKeys[m.Key] == nil {
			continue
		}
		if err := checkAnswer(m.Key, m.Value, refuses); err != nil {
			return err
		}
	}
	return nil
}
