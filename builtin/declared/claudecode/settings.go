package claudecode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/textfile"
	"github.com/hookgen/hookgen/internal/spelling"
)

// settings are the parts of a settings file that this package reads. It ignores the others.
type settings struct {
	DisableAllHooks bool            `json:"disableAllHooks"`
	Hooks           json.RawMessage `json:"hooks"`
	Permissions     json.RawMessage `json:"permissions"`
}

// unread returns the names of the permission rules in the file, which are not read.
func (s settings) unread() (names []string) {
	var lists map[string]json.RawMessage
	if len(s.Permissions) > 0 && json.Unmarshal(s.Permissions, &lists) != nil {
		return []string{"permissions"}
	}
	for _, list := range []string{"allow", "ask", "deny"} {
		text, written := lists[list]
		var rules []json.RawMessage
		if err := json.Unmarshal(text, &rules); written && (err != nil || len(rules) > 0) {
			names = append(names, "permissions."+list)
		}
	}
	return names
}

// A group has the handlers of one matcher.
type group struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// A handler is one script.
type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout float64  `json:"timeout"` // seconds
	If      string   `json:"if"`
	Async   bool     `json:"async"`
	Wakes   bool     `json:"asyncRewake"`
	Shell   string   `json:"shell"`

	at      string // the position, for reports
	matcher string
	matches func(value string) bool
	broken  error    // why it cannot run here; nil if it can
	env     []string // of the plugin that it belongs to
}

// The events that have a point. Most have a matcher, and exit status 2 blocks most of them. At unblockable ones it only
// shows the user the text of standard error.
var (
	events = append(strings.Fields("SessionStart UserPromptSubmit PostToolBatch SubagentStart SubagentStop Stop "+
		"StopFailure PreCompact PostCompact SessionEnd"), toolEvents...)
	toolEvents = strings.Fields("PreToolUse PermissionRequest PermissionDenied PostToolUse PostToolUseFailure")
	unmatched  = []string{"UserPromptSubmit", "PostToolBatch", "Stop"}

	unblockable = []string{"SessionStart", "SubagentStart", "PostCompact", "SessionEnd"}
)

// foreign are the events of Claude Code that no point corresponds to.
var foreign = strings.Fields("Setup InstructionsLoaded UserPromptExpansion MessageDisplay Notification TaskCreated " +
	"TaskCompleted TeammateIdle PreModelSwitch PostModelSwitch ConfigChange CwdChanged FileChanged DirectoryAdded " +
	"WorktreeCreate WorktreeRemove Elicitation ElicitationResult")

const (
	maxSettings = 4 << 20   // bytes of a file
	longest     = time.Hour // of a script
)

// Read reads settings files. The scripts of all files add up, as they do in Claude Code; a missing file is an error.
//
// Parts that cannot run here are in Hooks.Ignored, and the rest of the file runs: handlers of other types than command,
// handlers with a mistake, events without a corresponding point, lists of permission rules. A mistake is a misspelled
// or repeated key, a value of the wrong type, or a misspelled event. A mistake in a group concerns all handlers of the
// group. With Hooks.FailClosed, a handler that cannot run refuses as a script that fails does. Claude Code ignores some
// mistakes, so that a guard with a typing error never runs.
//
// Read returns an error for a file that cannot be read, is not valid JSON, or has a mistake outside of its handlers,
// for example the key "hook" for "hooks".
func Read(paths ...string) (*Hooks, error) {
	h := &Hooks{handlers: make(map[string][]handler)}
	for _, path := range paths {
		text, err := textfile.Read(path, maxSettings)
		if err == nil {
			err = h.read(path, text, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

// ReadPlugin adds the hooks of a plugin, which is a directory. They are in hooks/hooks.json, and in "hooks" of
// .claude-plugin/plugin.json: an object, a path, or a list of both. Their scripts have the directory in
// CLAUDE_PLUGIN_ROOT, which is also replaced in their arguments, and the variables env, for example
// "CLAUDE_PLUGIN_DATA=/var/lib/plugin". It fails if the plugin has no hooks. Call it before Use.
func (h *Hooks) ReadPlugin(dir string, env ...string) error {
	dir = absolute(dir)
	manifest := filepath.Join(dir, ".claude-plugin", "plugin.json")
	var plugin struct{ Hooks json.RawMessage }
	text, err := textfile.Read(manifest, maxSettings)
	if err == nil {
		err = json.Unmarshal(text, &plugin)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", manifest, err)
	}
	if h.handlers == nil {
		h.handlers = make(map[string][]handler)
	}
	env = append([]string{"CLAUDE_PLUGIN_ROOT=" + dir}, env...)
	var parts []json.RawMessage
	if json.Unmarshal(plugin.Hooks, &parts) != nil && len(plugin.Hooks) > 0 {
		parts = []json.RawMessage{plugin.Hooks}
	}
	const standard = "hooks/hooks.json"
	read := false // standard
	for i, part := range append([]json.RawMessage{json.RawMessage(`"` + standard + `"`)}, parts...) {
		file := ""
		switch {
		case part[0] == '{':
			err = h.read(manifest, fmt.Appendf(nil, `{"hooks":%s}`, part), env)
		case json.Unmarshal(part, &file) != nil:
			err = fmt.Errorf("%s: hooks is neither a path nor an object", manifest)
		case !filepath.IsLocal(filepath.FromSlash(file)):
			err = fmt.Errorf("%s: the path %q of hooks leads out of the plugin", manifest, file)
		case read && path.Clean(file) == standard:
		default:
			file = filepath.Join(dir, filepath.FromSlash(file))
			if text, err = textfile.Read(file, maxSettings); err == nil {
				read = read || i == 0
				err = h.read(file, text, env)
			}
		}
		if missing := i == 0 && len(parts) > 0 && errors.Is(err, fs.ErrNotExist); err != nil && !missing {
			return err
		}
	}
	return nil
}

func (h *Hooks) read(path string, text []byte, env []string) error {
	all, err := parse(path, text)
	if err != nil {
		return err
	}
	h.Ignored = append(h.Ignored, all.unread()...)
	if all.DisableAllHooks || len(all.Hooks) == 0 {
		return nil
	}
	members, ok := jsonx.Members(all.Hooks, -1)
	if !ok && string(all.Hooks) != "null" {
		return fmt.Errorf("%s: hooks is not an object; give the events by their names", path)
	}
	if err := checkKeys(members, nil); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range slices.SortedStableFunc(slices.Values(members), func(a, b jsonx.Member) int {
		return strings.Compare(a.Key, b.Key)
	}) {
		event, mistake := meantEvent(m.Key)
		if event == "" {
			h.Ignored = append(h.Ignored, m.Key)
			continue
		}
		for _, one := range readEvent(path, event, m.Value) {
			if one.env = env; one.broken == nil {
				one.broken = mistake
			}
			h.add(event, one)
		}
	}
	return nil
}

// meantEvent returns the event that a key means, or "" if no point corresponds to it. A misspelled event is a mistake.
func meantEvent(key string) (event string, mistake error) {
	if slices.Contains(events, key) {
		return key, nil
	}
	meant := spelling.Suggest(key, slices.Concat(events, foreign))
	if !slices.Contains(events, meant) || slices.Contains(foreign, key) {
		return "", nil
	}
	return meant, fmt.Errorf("unknown event %q; did you mean %q?", key, meant)
}

// add adds a handler and reports its parts that have no effect.
func (h *Hooks) add(event string, one handler) {
	ignore := func(why any) { h.Ignored = append(h.Ignored, fmt.Sprintf("%s: %v", one.at, why)) }
	if one.broken != nil {
		ignore(one.broken)
	}
	if one.If != "" && !slices.Contains(toolEvents, event) { // Claude Code never runs it either
		ignore("it has an if, which only events about tools can have")
		return
	}
	if one.Wakes {
		ignore("asyncRewake: it runs in the background and wakes nobody")
		one.Async = true
	}
	if one.Timeout > longest.Seconds() {
		ignore(fmt.Sprintf("of its %v seconds, it has %v", one.Timeout, longest.Seconds()))
		one.Timeout = longest.Seconds()
	}
	h.handlers[event] = append(h.handlers[event], one)
}

// readEvent returns the handlers of an event. A group or an event that has no list of handlers is one broken handler,
// which may have been meant for any tool.
func readEvent(path, event string, text []byte) (handlers []handler) {
	everything, _ := matcher("")
	var groups []json.RawMessage
	if err := json.Unmarshal(text, &groups); err != nil {
		return []handler{{at: path + ": " + event, matches: everything, broken: textfile.WrongType(err)}}
	}
	for i, raw := range groups {
		at := fmt.Sprintf("the matcher %d of %s", i+1, event)
		g, matches, wrong := readGroup(event, raw)
		if g.Hooks == nil {
			handlers = append(handlers, handler{
				at: path + ": " + at, matches: matches, broken: cmp.Or(wrong, errors.New("it has no hooks; give it a list")),
			})
		}
		for j, raw := range g.Hooks {
			var one handler
			mistake := decode(raw, &one, keysOf["handler"])
			one.at = fmt.Sprintf("%s: the hook %d of %s", path, j+1, at)
			one.matcher, one.matches, one.broken = g.Matcher, matches, cmp.Or(wrong, mistake, one.check())
			handlers = append(handlers, one)
		}
	}
	return handlers
}

// readGroup returns a group. With a mistake in it, its handlers may have been meant for any tool.
func readGroup(event string, raw []byte) (g group, matches func(string) bool, mistake error) {
	mistake = decode(raw, &g, keysOf["group"])
	if mistake != nil || slices.Contains(unmatched, event) {
		g.Matcher = ""
	}
	matches, wrong := matcher(g.Matcher)
	return g, matches, cmp.Or(mistake, wrong)
}

// parse parses a settings file. Its errors begin with the path, the line and the column.
func parse(path string, text []byte) (all settings, err error) {
	if err := textfile.Unmarshal(path, text, &all); err != nil {
		return settings{}, err
	}
	members, _ := jsonx.Members(text, -1)
	if err := checkKeys(members, keysOf["settings"]); err != nil {
		return settings{}, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// decode decodes a group or a handler, as far as it can. It returns an error for a value of the wrong type and for a
// repeated or misspelled key.
func decode(raw []byte, to any, known []string) error {
	err := json.Unmarshal(raw, to)
	members, object := jsonx.Members(raw, -1)
	if err == nil && !object {
		err = errors.New("it is null, not an object")
	}
	return cmp.Or(checkKeys(members, known), textfile.WrongType(err))
}

// check returns why a handler cannot run here, or nil.
func (c *handler) check() error {
	switch {
	case c.Type != "command":
		return fmt.Errorf("the type is %q; only command hooks can run here", c.Type)
	case c.Shell != "" && c.Shell != "bash":
		return fmt.Errorf("the shell is %q; only bash can run here", c.Shell)
	case strings.TrimSpace(c.Command) == "":
		return errors.New("the command is empty")
	case c.Timeout < 0:
		return fmt.Errorf("the timeout is %v; give 0 to %v seconds", c.Timeout, longest.Seconds())
	}
	return nil
}

// limit returns the time limit of the handler.
func (c *handler) limit(event string) time.Duration {
	given := time.Duration(c.Timeout * float64(time.Second))
	switch event {
	case "SessionEnd":
		return min(cmp.Or(given, 1500*time.Millisecond), time.Minute)
	case "UserPromptSubmit":
		return cmp.Or(given, 30*time.Second)
	}
	return cmp.Or(given, 10*time.Minute)
}

var exact = regexp.MustCompile(`^[A-Za-z0-9_\- ,|]*$`)

// matcher returns the function for a matcher: a list of names, or a regular expression that may match anywhere in the
// name. The empty matcher and "*" match everything.
func matcher(text string) (func(string) bool, error) {
	if text == "" || text == "*" {
		return func(string) bool { return true }, nil
	}
	if exact.MatchString(text) {
		var names []string
		for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '|' || r == ',' }) {
			names = append(names, strings.TrimSpace(name))
		}
		return func(value string) bool { return slices.Contains(names, value) }, nil
	}
	re, err := regexp.Compile(text)
	if err != nil { // it may match any name
		return func(string) bool { return true }, fmt.Errorf("%q is not a regular expression that Go can run: %w", text, err)
	}
	return re.MatchString, nil
}
