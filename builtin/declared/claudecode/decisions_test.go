package claudecode

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/filename"
)

// decision renders the parts of a verdict that decide something.
func (v verdict) decision() string {
	text := fmt.Sprintf("%s blocks=%t stops=%t %q %q", v.permission, v.blocks, v.stops, v.reason, v.stopReason)
	if v.request != nil {
		text += " " + v.request.Behavior
	}
	return text
}

func TestStatusAndJSONDecideTogether(t *testing.T) {
	const allow = `{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"fine"}}`
	for _, c := range []struct {
		name, event, stdout, stderr string
		status                      int
		want                        string // the decision, or the error
	}{
		{"nothing", "PreToolUse", "", "", 0, ` blocks=false stops=false "" ""`},
		{"blank", "PreToolUse", " \n", "", 0, ` blocks=false stops=false "" ""`},
		{"text", "PreToolUse", "all fine", "", 0, ` blocks=false stops=false "" ""`},
		{"an empty object", "PreToolUse", "{}", "", 0, ` blocks=false stops=false "" ""`},
		{"status 2", "PreToolUse", "", "no", 2, `deny blocks=true stops=false "no" ""`},
		{"status 2 at another event", "Stop", "", "no", 2, ` blocks=true stops=false "no" ""`},
		{"status 2 and a block", "PreToolUse", `{"decision":"block","reason":"mine"}`, "no", 2,
			`deny blocks=true stops=false "mine" ""`},
		{"status 2 and a block without a reason", "PreToolUse", `{"decision":"block"}`, "no", 2,
			`deny blocks=true stops=false "no" ""`},
		{"status 2 and a permission", "PreToolUse", allow, "no", 2, `deny blocks=true stops=false "no" ""`},
		{"status 2 and invalid JSON", "PreToolUse", "{", "no", 2, `deny blocks=true stops=false "no" ""`},
		{"status 1", "PreToolUse", "", "down\nmore", 1, `exit status 1: "down"`},
		{"status 1 and JSON", "PreToolUse", allow, "down", 1, `allow blocks=false stops=false "fine" ""`},
		{"status 1 and invalid JSON", "PreToolUse", "{", "down", 1, "its JSON is invalid: unexpected end of JSON input"},
		{"approve", "PreToolUse", `{"decision":"approve"}`, "", 0, `allow blocks=false stops=false "" ""`},
		{"approve at another event", "Stop", `{"decision":"approve"}`, "", 0,
			`its JSON is invalid: the decision "approve" is not block`},
		{"block at another event", "Stop", `{"decision":"block","reason":"r"}`, "", 0, ` blocks=true stops=false "r" ""`},
		{"ask", "PreToolUse", `{"hookSpecificOutput":{"permissionDecision":"ask"}}`, "", 0,
			`ask blocks=false stops=false "" ""`},
		{"deny", "PreToolUse", `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "", 0,
			`deny blocks=true stops=false "" ""`},
		{"continue", "PreToolUse", `{"continue":true,"stopReason":"x"}`, "", 0, ` blocks=false stops=false "" ""`},
		{"stop", "PreToolUse", `{"continue":false,"stopReason":"x"}`, "", 0, ` blocks=false stops=true "" "x"`},
		{"a request", "PermissionRequest", `{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`, "", 0,
			` blocks=false stops=false "" "" allow`},
		{"a refused request", "PermissionRequest", `{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}`, "", 0,
			` blocks=false stops=false "" "" deny`},
		{"an unknown request", "PermissionRequest", `{"hookSpecificOutput":{"decision":{"behavior":"maybe"}}}`, "", 0,
			`its JSON is invalid: the behavior "maybe" is neither allow nor deny`},
		{"another event", "PreToolUse", `{"hookSpecificOutput":{"hookEventName":"Stop"}}`, "", 0,
			`its JSON is invalid: its hookEventName is "Stop", and the event is PreToolUse`},
		{"an input that is a list", "PreToolUse", `{"hookSpecificOutput":{"updatedInput":[1]}}`, "", 0,
			"its JSON is invalid: updatedInput is not an object"},
		{"an input that is null", "PreToolUse", `{"hookSpecificOutput":{"updatedInput":null}}`, "", 0,
			` blocks=false stops=false "" ""`},
		{"a request with a list", "PermissionRequest",
			`{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":[1]}}}`, "", 0,
			"its JSON is invalid: updatedInput is not an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := read(c.event, []byte(c.stdout), c.stderr, c.status)
			got := v.decision()
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTextsOfAnAnswerAreKept(t *testing.T) {
	v, err := read("PostToolUse", []byte(`{"systemMessage":"hello","continue":false,"stopReason":"enough",`+
		`"hookSpecificOutput":{"additionalContext":"c","updatedMCPToolOutput":"m","initialUserMessage":"i"}}`), "", 0)
	messages := []Message{{"PostToolUse", "hello"}, {"PostToolUse", "enough"}}
	if err != nil || !slices.Equal(v.messages, messages) || !slices.Equal(v.context, []string{"c"}) ||
		string(v.updatedOutput) != `"m"` || v.initialPrompt != "i" {
		t.Errorf("%+v, %v", v, err)
	}
	both := `{"hookSpecificOutput":{"updatedToolOutput":"t","updatedMCPToolOutput":"m"}}`
	v, err = read("PostToolUse", []byte(both), "", 0)
	if err != nil || string(v.updatedOutput) != `"t"` || v.messages != nil || v.context != nil {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestTheStrictestAnswerCounts(t *testing.T) {
	p := func(permission, reason string) verdict {
		return verdict{permission: permission, reason: reason, blocks: permission == "deny"}
	}
	r := func(behavior string) verdict { return verdict{request: &requestDecision{Behavior: behavior}} }
	for _, c := range []struct {
		name string
		all  []verdict
		want string
	}{
		{"none", nil, ` blocks=false stops=false "" ""`},
		{"one", []verdict{p("ask", "a")}, `ask blocks=false stops=false "a" ""`},
		{"ask, then allow", []verdict{p("ask", "a"), p("allow", "b")}, `ask blocks=false stops=false "a" ""`},
		{"allow, then ask", []verdict{p("allow", "b"), p("ask", "a")}, `ask blocks=false stops=false "a" ""`},
		{"defer, then ask", []verdict{p("defer", "d"), p("ask", "a")}, `defer blocks=false stops=false "d" ""`},
		{"ask, then deny", []verdict{p("ask", "a"), p("deny", "n")}, `deny blocks=true stops=false "n" ""`},
		{"nothing, then allow", []verdict{{}, p("allow", "b")}, `allow blocks=false stops=false "b" ""`},
		{"allow, then nothing", []verdict{p("allow", "b"), {}}, `allow blocks=false stops=false "b" ""`},
		{"two reasons", []verdict{p("deny", "a"), p("deny", "b"), p("deny", "a"), p("deny", "")},
			`deny blocks=true stops=false "a; b" ""`},
		{"two stops", []verdict{{stops: true, stopReason: "a"}, {stops: true, stopReason: "b"}},
			` blocks=false stops=true "" "a"`},
		{"allow, then deny of a request", []verdict{r("allow"), r("deny")}, ` blocks=false stops=false "" "" deny`},
		{"deny, then allow of a request", []verdict{r("deny"), r("allow")}, ` blocks=false stops=false "" "" deny`},
		{"a request, then nothing", []verdict{r("allow"), {}}, ` blocks=false stops=false "" "" allow`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := merge(c.all).decision(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	m := merge([]verdict{
		{updatedInput: []byte("1"), updatedOutput: []byte("2"), initialPrompt: "a", context: []string{"c"}},
		{}, {updatedInput: []byte("3"), updatedOutput: []byte("4"), initialPrompt: "b", context: []string{"d"}},
		{messages: []Message{{"Stop", "x"}}},
	})
	if string(m.updatedInput) != "3" || string(m.updatedOutput) != "4" || m.initialPrompt != "b" ||
		!slices.Equal(m.context, []string{"c", "d"}) || len(m.messages) != 1 {
		t.Errorf("merged %+v", m)
	}
}

func TestPatternsOfCommands(t *testing.T) {
	for _, c := range []struct {
		pattern, command string
		want             bool
	}{
		{"ls *", "ls", true}, {"ls *", "ls -l", true}, {"ls *", "lsof", false}, {"ls*", "lsof", true},
		{"ls:*", "lsof", true}, {"ls:*", "ls -l", true}, {"git push *", "git pull", false},
		{"git push *", "git  push  x", true}, {"/bin/ls *", "/bin/ls x", true}, {"ls *", "/bin/ls x", true},
		{"rm *", "ls > x", true}, {"rm *", "ls | x", true}, {"rm *", "ls `x`", true}, {"rm *", "ls $x", true},
		{"rm *", "ls (x", true}, {"rm *", `ls "x"`, true}, {"rm *", "ls 'x'", true}, {"rm *", `ls \x`, true},
		{"rm *", "ls\nx", true}, {"rm *", "ls & x", true}, {"rm *", "ls <x", true}, {"rm *", "ls x*", false},
		{"rm *", "l* x", true}, {"rm *", "l[s] x", true}, {"rm *", "{ls x", true}, {"rm *", "~/ls x", true},
		{"rm *", "A=b ls", true}, {"rm *", "!ls", true}, {"rm *", "ls A=b", false}, {"rm *", "env ls", true},
		{"rm *", "/usr/bin/nice ls", true}, {"rm *", "xargs", true}, {"rm *", "ls env", false}, {"rm *", "", false},
	} {
		if got := coversCommand(c.pattern, c.command); got != c.want {
			t.Errorf("%q covers %q: %t", c.pattern, c.command, got)
		}
	}
}

func TestPatternsOfFilesAndHosts(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{".env", "/p/.env", true}, {".env", "/p/.env/x", true}, {".env", "/p/env", false}, {"*.ts", "/p/a.TS", true},
		{"//etc/x", "/etc/x", true}, {"//etc/x", "/p/etc/x", false}, {"//etc/x", "etc/x", true}, {"/src/x", "/p/src/x", true},
		{"a?", "/p/b", true}, {"a", "~b", true}, {"a", "/p/$b", true}, {"a", `/p\b`, true}, {"{a}", "/p/b", true},
		{"dir/", "/p/dir/x", true}, {"dir/", "/p/dirs/x", false}, {"a/**/b", "/p/a/c/d/b", true}, {"a/**/b", "/p/a/b", true},
		{"./x", "../x", true}, {"x", "/p/../y", false},
	} {
		if got := coversFile(c.pattern, c.file); got != c.want {
			t.Errorf("%q covers %q: %t", c.pattern, c.file, got)
		}
	}
	for _, c := range []struct {
		pattern, address string
		want             bool
	}{
		{"domain:a.org", "https://a.org", true}, {"domain:A.org", "https://x.a.ORG./p", true},
		{"domain:a.org", "https://ba.org", false}, {"domain:a.org", "a.org/x", true}, {"domain:a.org", "https://", true},
		{"domain:*.a.org", "https://x.a.org", true}, {"https://a.org/*", "https://a.org/x", true},
		{"https://a.org/*", "https://b.org/x", false},
	} {
		if got := coversURL(c.pattern, c.address); got != c.want {
			t.Errorf("%q covers %q: %t", c.pattern, c.address, got)
		}
	}
}

func TestRulesApplyToCalls(t *testing.T) {
	for _, c := range []struct {
		rule, tool string
		input      map[string]any
		want       bool
	}{
		{"", "Bash", nil, true},
		{"(", "Bash", nil, true}, // not clear
		{"Bash", "Bash", nil, true},
		{"Bash", "Edit", nil, false},
		{"B*", "Bash", nil, true},
		{"Bash(*)", "Bash", map[string]any{"command": "ls"}, true},
		{"Bash()", "Bash", map[string]any{"command": "ls"}, true},
		{"Bash(rm *)", "Bash", map[string]any{"command": "ls"}, false},
		{"Bash(rm *)", "Bash", map[string]any{"command": 7}, true},
		{"Bash(rm *)", "Bash", map[string]any{"other": "ls"}, true},
		{"Edit(a.ts)", "NotebookEdit", map[string]any{"notebook_path": "/p/a.ts"}, true},
		{"Edit(a.ts)", "NotebookEdit", map[string]any{"notebook_path": "/p/b.ts"}, false},
		{"Read(a.ts)", "Grep", map[string]any{"file_path": "/p/a.ts"}, true},
		{"Read(a.ts)", "Write", map[string]any{"file_path": "/p/a.ts"}, false},
	} {
		if got := (&handler{If: c.rule}).applies(c.tool, c.input); got != c.want {
			t.Errorf("%q applies to %s %v: %t", c.rule, c.tool, c.input, got)
		}
	}
}

func TestMatchersSelectNames(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"", "x", true}, {"*", "x", true}, {"x", "x", true}, {"x", "xy", false}, {"x|y", "y", true}, {"x, y", "y", true},
		{"x | y", "x", true}, {"x.*", "axb", true}, {"^x", "ax", false}, {"x-1_A", "x-1_A", true},
	} {
		matches, err := matcher(c.text)
		if err != nil || matches(c.name) != c.want {
			t.Errorf("%q matches %q: %t, %v", c.text, c.name, !c.want, err)
		}
	}
}

func TestTimeLimitsOfEvents(t *testing.T) {
	for _, c := range []struct {
		event   string
		timeout float64
		want    time.Duration
	}{
		{"Stop", 0, 10 * time.Minute}, {"Stop", 0.5, time.Second / 2}, {"Stop", 3600, time.Hour},
		{"SessionEnd", 0, 1500 * time.Millisecond}, {"SessionEnd", 2, 2 * time.Second}, {"SessionEnd", 90, time.Minute},
		{"UserPromptSubmit", 0, 30 * time.Second},
	} {
		h := handler{Type: "command", Command: "x", Timeout: c.timeout, Shell: "bash"}
		if got := h.limit(c.event); got != c.want || h.check() != nil {
			t.Errorf("%s with %v: %v, %v", c.event, c.timeout, got, h.check())
		}
	}
}

func TestResponsesAreObjects(t *testing.T) {
	h := new(Hooks)
	for _, c := range []struct{ tool, output, want string }{
		{"Bash", "x", `{"interrupted":false,"isImage":false,"stderr":"","stdout":"x"}`},
		{"Read", "x", `{"content":"x"}`},
		{"Bash", ` {"a":1}`, `{"a":1}`},
		{"Read", `{"a":`, `{"content":"{\"a\":"}`},
		{"Read", `[1]`, `{"content":"[1]"}`},
	} {
		data, err := json.Marshal(h.response(c.tool, agent.ToolCallResult{Output: c.output}))
		if err != nil || string(data) != c.want {
			t.Errorf("%s %q: %s, %v", c.tool, c.output, data, err)
		}
	}
	for data, want := range map[string]string{`"a\nb"`: "a\nb", `{"a":1}`: `{"a":1}`, `7`: "7"} {
		if got := textOf([]byte(data)); got != want {
			t.Errorf("the text of %s is %q", data, got)
		}
	}
}

func TestStandardErrorIsBounded(t *testing.T) {
	b := &head{limit: 5}
	for _, text := range []string{"abc", "def", "ghi"} {
		if n, err := b.Write([]byte(text)); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if got := b.String(); got != "abcde" {
		t.Errorf("kept %q", got)
	}
	invalid := &head{limit: 5}
	_, _ = invalid.Write([]byte("a\xff"))
	if got := invalid.String(); got != "a\ufffd" {
		t.Errorf("kept %q", got)
	}
}

func TestCompactionsHaveATrigger(t *testing.T) {
	for reason, want := range map[agent.CompactionReason]string{
		agent.CompactRequested: "manual", "": "auto", "x": "auto",
	} {
		if got := trigger(reason); got != want {
			t.Errorf("%q is %s", reason, got)
		}
	}
}

func TestScriptsReadTheSession(t *testing.T) {
	run := agent.NewRun(&agent.Env{Agent: "a"})
	for _, c := range []struct {
		name string
		h    *Hooks
		run  *agent.Run
		want map[string]any
	}{
		{"defaults", &Hooks{ProjectDir: "/p"}, run, map[string]any{"session_id": run.Root(), "cwd": "/p",
			"hook_event_name": "Stop", "transcript_path": "", "permission_mode": "default", "x": 1}},
		{"a mode", &Hooks{ProjectDir: "/p", PermissionMode: "plan"}, run, map[string]any{"permission_mode": "plan"}},
		{"settings of the host", &Hooks{ProjectDir: "/p", Effort: "high", ScratchpadDir: "/s"}, run, map[string]any{
			"effort": map[string]any{"level": "high"}, "scratchpad_dir": "/s"}},
		{"no run", &Hooks{ProjectDir: "/p", TranscriptDir: "/t"}, nil, map[string]any{"session_id": "",
			"transcript_path": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.h.common(c.run, occasion{event: "Stop", fields: map[string]any{"x": 1}})
			for key, want := range c.want {
				if string(jsonx.Encode(got[key])) != string(jsonx.Encode(want)) {
					t.Errorf("%s is %v, want %v", key, got[key], want)
				}
			}
			if _, sub := got["agent_id"]; sub {
				t.Errorf("it is a sub-agent: %v", got)
			}
		})
	}
}

func TestArgumentsOfAnotherSpellingAreAmbiguous(t *testing.T) {
	h := &Hooks{Tools: map[string]Tool{"shell": {Name: "Bash", Fields: map[string]string{"cmd": "command"}}}}
	for args, want := range map[string]string{
		`{"cmd":"ls"}`:            "",
		`{"other":"ls"}`:          "",
		`{"CMD":"ls"}`:            "write cmd instead of CMD",
		`{"cmd":"ls","Cmd":"rm"}`: "the arguments cannot be checked",
		`[1]`:                     "the arguments cannot be checked",
	} {
		got := h.ambiguous(agent.ToolCallRequest{Name: "shell", Args: []byte(args)})
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

func TestArgumentsHaveTheirNamesAgain(t *testing.T) {
	h := &Hooks{Tools: map[string]Tool{"shell": {Name: "Bash", Fields: map[string]string{"cmd": "command"}}}}
	for _, c := range []struct{ tool, input, want string }{
		{"shell", `{"command":"ls","n":1}`, `{"cmd":"ls","n":1}`},
		{"shell", `{"cmd":"x","n":1}`, `{"cmd":"x","n":1}`},
		{"other", `{"command":"ls"}`, `{"command":"ls"}`},
		{"shell", `[1]`, "error"},
	} {
		got, err := h.arguments(c.tool, []byte(c.input))
		if err != nil {
			got = []byte("error")
		}
		if string(got) != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
	for args, want := range map[string]string{
		`{"cmd":"ls","n":10000000000000000001}`: `Bash {"command":"ls","n":10000000000000000001}`,
		`{`:                                     "Bash {}", `null`: "Bash {}",
	} {
		name, input := h.named(agent.ToolCallRequest{Name: "shell", Args: []byte(args)})
		data, err := json.Marshal(input)
		if got := name + " " + string(data); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", args, got, err, want)
		}
	}
}

func TestTranscriptsThatCannotBeWritten(t *testing.T) {
	run := agent.NewRun(&agent.Env{})
	file := filename.Of(run.ID()) + ".jsonl"
	for name, prepare := range map[string]func(dir string) error{
		"a directory in place of the file": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, file, "x"), 0o700)
		},
		"a file in place of the directory": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "transcripts")
			if err := prepare(dir); err != nil {
				t.Fatal(err)
			}
			var reported []error
			h := &Hooks{TranscriptDir: dir, OnError: func(err error) { reported = append(reported, err) }}
			if path := h.transcript(run, occasion{event: "Stop"}); path != filepath.Join(dir, file) {
				t.Errorf("the path is %s", path)
			}
			if len(reported) != 1 {
				t.Errorf("reported %v", reported)
			}
			if files, _ := os.ReadDir(dir); len(files) > 1 {
				t.Errorf("left %v", files)
			}
		})
	}
}
