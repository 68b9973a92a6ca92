package claudecode_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// say returns a script that writes JSON.
func say(json string) string { return "cat >/dev/null; printf '%s' '" + json + "'" }

func specific(event, fields string) string {
	return say(`{"hookSpecificOutput":{"hookEventName":"` + event + `",` + fields + `}}`)
}

func TestPreToolUse(t *testing.T) {
	pre := func(matcher, text, more string) script { return script{"PreToolUse", matcher, text, more} }
	yes, no := agent.Approval{Allow: true}, agent.Approval{Reason: "not now"}
	deny := `echo never >&2; exit 2`
	for _, c := range []struct {
		name     string
		scripts  []script
		approver *agent.Approval
		closed   bool
		ran      string // the arguments that the tool got, or "" if it did not run
		model    string // a text that the model read
		reported int
	}{
		{"says nothing", []script{pre("", "exit 0", "")}, nil, false, `{"cmd":"git push"}`, "pushed", 0},
		{"exits 2", []script{pre("Bash", deny, "")}, nil, false, "", "PreToolUse:Bash hook error: never", 0},
		{"exits 2 in spite of its JSON", []script{pre("Bash", specific("PreToolUse", `"permissionDecision":"allow"`)+"; "+
			deny, "")},
			nil, false, "", "never", 0},
		{"exits 2 with a reason to allow", []script{pre("Bash", specific("PreToolUse",
			`"permissionDecision":"allow","permissionDecisionReason":"fine"`)+"; "+deny, "")},
			nil, false, "", "hook error: never", 0},
		{"is also in the background", []script{pre("", deny, `, "async": true`), pre("", deny, "")}, nil, false, "", "never",
			0},
		{"is for another tool", []script{pre("Edit|Write", deny, "")}, nil, false, `{"cmd":"git push"}`, "pushed", 0},
		{"has a list of tools", []script{pre("Edit, Bash", deny, "")}, nil, false, "", "never", 0},
		{"has an expression", []script{pre("^Ba.h$", deny, "")}, nil, false, "", "never", 0},
		{"does not see our name", []script{pre("shell", deny, "")}, nil, false, `{"cmd":"git push"}`, "pushed", 0},
		{"reads its input", []script{pre("*", `grep -q '"command":"git push"' && `+deny, "")}, nil, false, "", "never", 0},
		{"has a rule that applies", []script{pre("", deny, `, "if": "Bash(git *)"`)}, nil, false, "", "never", 0},
		{"has a rule with a colon", []script{pre("", deny, `, "if": "Bash(git:*)"`)}, nil, false, "", "never", 0},
		{"has a rule that does not apply", []script{pre("", deny, `, "if": "Bash(rm *)"`)}, nil, false, `{"cmd":"git push"}`,
			"pushed", 0},
		{"denies by JSON", []script{pre("", specific("PreToolUse",
			`"permissionDecision":"deny","permissionDecisionReason":"no"`), "")},
			nil, false, "", "no", 0},
		{"denies as of old", []script{pre("", say(`{"decision":"block","reason":"no"}`), "")}, nil, false, "", "no", 0},
		{"blocks and allows", []script{pre("", say(`{"decision":"block","reason":"no","hookSpecificOutput":`+
			`{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"fine"}}`), "")}, nil, false,
			"", "hook error: no", 0},
		{"allows at another event", []script{pre("", specific("PostToolUse", `"permissionDecision":"allow"`), "")}, nil, true,
			"", `hookEventName is "PostToolUse"`, 0},
		{"denies at another event", []script{pre("", specific("PostToolUse", `"permissionDecision":"deny"`), "")}, nil, false,
			"", "hook error", 0},
		{"denies with a wrong input", []script{pre("", specific("PreToolUse",
			`"permissionDecision":"deny","updatedInput":"ls"`), "")}, nil, false, "", "hook error", 0},
		{"asks", []script{pre("", specific("PreToolUse", `"permissionDecision":"ask"`), "")}, &yes, false,
			`{"cmd":"git push"}`, "pushed", 0},
		{"asks in vain", []script{pre("", specific("PreToolUse", `"permissionDecision":"ask"`), "")}, &no, false, "",
			"not now", 0},
		{"defers without anybody", []script{pre("", specific("PreToolUse", `"permissionDecision":"defer"`), "")}, nil, false,
			"", "nobody", 0},
		{"changes the input", []script{pre("", specific("PreToolUse", `"updatedInput":{"command":"git pull"}`), "")}, nil,
			false,
			`{"cmd":"git pull"}`, "pushed", 0},
		{"adds context", []script{pre("", specific("PreToolUse", `"additionalContext":"mind the gap"`), "")}, nil, false,
			`{"cmd":"git push"}`, "pushed\n\nmind the gap", 0},
		{"deny beats ask and allow", []script{
			pre("", specific("PreToolUse", `"permissionDecision":"allow"`), ""), pre("", deny, ""),
			pre("", specific("PreToolUse", `"permissionDecision":"ask"`), ""),
		}, &yes, false, "", "never", 0},
		{"ask beats allow", []script{
			pre("", specific("PreToolUse", `"permissionDecision":"ask"`), ""),
			pre("", specific("PreToolUse", `"permissionDecision":"allow"`), ""),
		}, &no, false, "", "not now", 0},
		{"all see the same input", []script{
			pre("", specific("PreToolUse", `"updatedInput":{"command":"ls"}`), ""),
			pre("", `grep -q '"command":"git push"' && `+deny, ""),
		}, nil, false, "", "never", 0},
		{"exits 1", []script{pre("", "exit 1", "")}, nil, false, `{"cmd":"git push"}`, "pushed", 1},
		{"exits 1 with a terminal code", []script{pre("", `printf 'a\033[31m' >&2; exit 1`, "")}, nil, true, "",
			`a\x1b[31m`, 0},
		{"exits 1, closed", []script{pre("", "echo broken >&2; exit 1", "")}, nil, true, "", "broken", 0},
		{"decides and exits 1", []script{pre("", say(`{"decision":"block","reason":"no"}`)+"; exit 1", "")}, nil, false, "",
			"no", 0},
		{"writes invalid JSON", []script{pre("", say(`{"decision":`), "")}, nil, false, `{"cmd":"git push"}`, "pushed", 1},
		{"writes an unknown decision", []script{pre("", say(`{"decision":"allow"}`), "")}, nil, true, "", "is not block", 0},
		{"takes too long", []script{pre("", "sleep 3600", `, "timeout": 0.1`)}, nil, false, `{"cmd":"git push"}`, "pushed",
			1},
		{"takes too long, closed", []script{pre("", "sleep 3600", `, "timeout": 0.1`)}, nil, true, "", "no reply within", 0},
		{"is not installed", []script{pre("", "/no/such/program", "")}, nil, false, `{"cmd":"git push"}`, "pushed", 1},
		{"writes without an end", []script{pre("", "yes", "")}, nil, true, "", "more than", 0},
		{"is in the background", []script{pre("", "exit 2", `, "async": true`)}, nil, true, `{"cmd":"git push"}`, "pushed",
			0},
		{"has arguments", []script{pre("", "printf", `, "args": ["{\"decision\":\"block\",\"reason\":\"$(id)\"}"]`)}, nil,
			false, "",
			"$(id)", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hooks(t, c.scripts...)
			var mu sync.Mutex // a script in the background may fail after the run
			var reported []error
			h.OnError = func(err error) {
				mu.Lock()
				defer mu.Unlock()
				reported = append(reported, err)
			}
			h.FailClosed = c.closed
			tool := &looptest.Tool{Name: "shell", Result: "pushed"}
			a := &loop.Agent{}
			if c.approver != nil {
				a.Approver = person{*c.approver}
			}
			r := ran(t, h, looptest.Harness{Tools: []agent.Tool{tool}, Agent: a})
			got := ""
			for _, call := range tool.Calls() {
				got += string(call.Args)
			}
			messages := r.Script.Requests()[1].Messages
			if read := messages[len(messages)-1].Content; got != c.ran || !strings.Contains(read, c.model) {
				t.Errorf("the tool got %q, the model read %q", got, read)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(reported) != c.reported {
				t.Errorf("reported %v", reported)
			}
		})
	}
}

type person struct{ answer agent.Approval }

func (p person) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return p.answer, nil
}

// An approval with other arguments must not reach the tool if a script refuses these arguments.
func TestChangedArgumentsAreShownToTheScripts(t *testing.T) {
	h := hooks(t, script{"PreToolUse", "Bash", `grep -q 'rm -rf' && echo never >&2 && exit 2 || exit 0`, ""})
	tool := &looptest.Tool{Name: "shell"}
	r := ran(t, h, looptest.Harness{
		Tools: []agent.Tool{tool}, Hooks: []agent.Hook{&permission.Confirm{Tools: []string{"*"}}},
		Agent: &loop.Agent{Approver: person{agent.Approval{Allow: true, Args: []byte(`{"cmd":"rm -rf /"}`)}}},
	})
	if tool.Count() != 0 || !strings.Contains(r.Calls[0].Err, "never") {
		t.Errorf("the tool ran %d times: %+v", tool.Count(), r.Calls[0])
	}
}

// A tool can have an argument with the name that another one has in Claude Code.
func TestArgumentsCanExchangeTheirNames(t *testing.T) {
	for range 20 { // maps have no order
		h := hooks(t, script{"PreToolUse", "", `cat >seen; ` +
			`printf '%s' '{"hookSpecificOutput":{"updatedInput":{"a":"3","b":"4"}}}'`, ""})
		h.Tools = map[string]claudecode.Tool{"shell": {Name: "Bash", Fields: map[string]string{"a": "b", "b": "a"}}}
		all := new(agent.Hooks)
		all.Use(h)
		call := agent.ToolCallRequest{ID: "1", Name: "shell", Args: []byte(`{"a":"1","b":"2"}`), Step: 1}
		if _, err := all.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call); err != nil {
			t.Fatal(err)
		}
		seen := read(t, h, "seen")
		if !strings.Contains(seen, `{"a":"2","b":"1"}`) || string(call.Args) != `{"a":"4","b":"3"}` {
			t.Fatalf("the script saw %s, the tool gets %s", seen, call.Args)
		}
	}
}

func TestArgumentsThatAScriptCannotJudge(t *testing.T) {
	deny := script{"PreToolUse", "Bash", `grep -q '"rm"' && echo never >&2 && exit 2 || exit 0`, ""}
	for name, c := range map[string]struct {
		args string
		runs int
	}{
		"plain":            {`{"cmd":"ls"}`, 1},
		"large number":     {`{"cmd":"ls","n":12345678901234567890}`, 1},
		"control text":     {`{"cmd":"l\u0000s\u202e\ud83d\ude00"}`, 1},
		"name twice":       {`{"cmd":"rm","cmd":"ls"}`, 0},
		"name in two ways": {`{"cmd":"ls","CMD":"rm"}`, 0},
		"escaped name":     {`{"cmd":"ls","c\u006dd":"rm"}`, 0},
		"another case":     {`{"CMD":"rm"}`, 0},
		"no object":        {`"rm"`, 0},
		"invalid":          {`{"cmd":`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tool := &looptest.Tool{Name: "shell"}
			h := hooks(t, deny, script{"PostToolUse", "", "cat >>seen", ""})
			ran(t, h, looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("shell", c.args), looptest.Reply("ok")}, Tools: []agent.Tool{tool},
			})
			if tool.Count() != c.runs {
				t.Errorf("the tool ran %d times", tool.Count())
			}
			if seen := read(t, h, "seen"); name == "large number" && !strings.Contains(seen, "12345678901234567890") {
				t.Errorf("the script saw %s", seen)
			}
		})
	}
}

// A script that searches its input for a text must find it as the model wrote it.
func TestScriptsReadArgumentsWithoutEscapes(t *testing.T) {
	h := hooks(t, script{"PreToolUse", "", `grep -qF '"ls && rm <a >b"' || exit 0; echo never >&2; exit 2`, ""})
	tool := &looptest.Tool{Name: "shell"}
	ran(t, h, looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("shell", `{"cmd":"ls && rm <a >b"}`), looptest.Reply("ok")},
		Tools: []agent.Tool{tool},
	})
	if tool.Count() != 0 {
		t.Error("the tool ran")
	}
}

// The directories can be relative to that of the agent, which is not that of the scripts.
func TestScriptsGetAbsolutePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	h := hooks(t, script{"Stop", "", `path=$(sed 's/.*"transcript_path":"\([^"]*\)".*/\1/'); ` +
		`cd / && cat "$path" >"$CLAUDE_PROJECT_DIR/seen"`, ""})
	h.ProjectDir, h.TranscriptDir = "a project", "transcripts"
	if err := os.Mkdir(h.ProjectDir, 0o700); err != nil {
		t.Fatal(err)
	}
	ran(t, h, looptest.Harness{})
	if seen := read(t, h, "seen"); !strings.Contains(seen, `"role":"assistant"`) {
		t.Errorf("the script read %q", seen)
	}
}

// A provider may leave out the arguments of a call that has none.
func TestACallWithoutArgumentsIsJudgedOnce(t *testing.T) {
	h := hooks(t, script{"PreToolUse", "", "cat >/dev/null; echo once >>seen", ""})
	all := new(agent.Hooks)
	all.Use(h)
	run, call := agent.NewRun(nil), agent.ToolCallRequest{ID: "1", Name: "shell", Step: 1}
	if _, err := all.BeforeTool.Fire(t.Context(), run, &call); err != nil {
		t.Fatal(err)
	}
	all.OnPermission.Fire(t.Context(), run, call)
	if seen := read(t, h, "seen"); seen != "once\n" {
		t.Errorf("the script ran: %q", seen)
	}
}

func TestAScriptLeavesNoChildren(t *testing.T) {
	for name, text := range map[string]string{
		"after its end":     "(while :; do echo >>beats; sleep 0.01; done) & exit 0",
		"at the time limit": "(while :; do echo >>beats; sleep 0.01; done) & sleep 3600",
	} {
		t.Run(name, func(t *testing.T) {
			h := hooks(t, script{"PreToolUse", "", text, `, "timeout": 0.1`})
			h.OnError = func(error) {}
			ran(t, h, looptest.Harness{})
			before := read(t, h, "beats")
			for range 20 { // a child that is alive writes while these scripts run
				if _, err := exec.Command("sh", "-c", "sleep 0.01").Output(); err != nil {
					t.Fatal(err)
				}
			}
			if after := read(t, h, "beats"); after != before {
				t.Error("a child is alive")
			}
		})
	}
}

func TestPermissionRequest(t *testing.T) {
	request := func(decision string) script {
		return script{"PermissionRequest", "Bash", specific("PermissionRequest", `"decision":`+decision), ""}
	}
	for _, c := range []struct {
		name, decision, ran, stopped string
	}{
		{"allows", `{"behavior":"allow"}`, `{"cmd":"git push"}`, ""},
		{"changes the input", `{"behavior":"allow","updatedInput":{"command":"ls"}}`, `{"cmd":"ls"}`, ""},
		{"changes the input to a text", `{"behavior":"allow","updatedInput":"ls"}`, "", ""},
		{"denies", `{"behavior":"deny","message":"no"}`, "", ""},
		{"interrupts", `{"behavior":"deny","message":"wrong","interrupt":true}`, "", "wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := &looptest.Tool{Name: "shell"}
			r := ran(t, hooks(t, request(c.decision)), looptest.Harness{
				Tools: []agent.Tool{tool}, Hooks: []agent.Hook{&permission.Confirm{Tools: []string{"*"}}},
			})
			got := ""
			for _, call := range tool.Calls() {
				got = string(call.Args)
			}
			if got != c.ran || c.stopped != "" && !strings.Contains(r.Stop.Message, c.stopped) {
				t.Errorf("the tool got %q, %+v", got, r.Stop)
			}
		})
	}
	t.Run("sees the arguments of the tool", func(t *testing.T) {
		h, tool := hooks(t, request(`{"behavior":"allow"}`)), &looptest.Tool{Name: "shell"}
		ran(t, h, looptest.Harness{
			Turns: []looptest.Turn{looptest.Call("shell", `{"cmd":"ls","CMD":"rm"}`), looptest.Reply("ok")},
			Tools: []agent.Tool{tool}, Hooks: []agent.Hook{&permission.Confirm{Tools: []string{"*"}}},
		})
		if tool.Count() != 0 {
			t.Error("the tool ran")
		}
	})
}

func TestPostToolUse(t *testing.T) {
	post := func(event, text string) script { return script{event, "Bash", text, ""} }
	for _, c := range []struct {
		name   string
		script script
		fails  bool
		read   string
		output string
	}{
		{"adds context", post("PostToolUse", specific("PostToolUse", `"additionalContext":"run the tests"`)), false,
			"pushed\n\nrun the tests", "pushed"},
		{"blocks", post("PostToolUse", say(`{"decision":"block","reason":"lint failed"}`)), false,
			"pushed\n\nPostToolUse:Bash hook feedback: lint failed", "pushed"},
		{"exits 2", post("PostToolUse", "echo lint failed >&2; exit 2"), false, "lint failed", "pushed"},
		{"reads the response", post("PostToolUse", `grep -q '"stdout":"pushed"' && echo seen >&2 && exit 2`), false, "seen",
			"pushed"},
		{"changes the output", post("PostToolUse", specific("PostToolUse", `"updatedToolOutput":"[hidden]"`)), false,
			"[hidden]", "[hidden]"},
		{"is not for failures", post("PostToolUse", "echo seen >&2; exit 2"), true, "broken", ""},
		{"is for failures", post("PostToolUseFailure", `grep -q '"error":"broken"' && echo seen >&2 && exit 2`), true, "seen",
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := &looptest.Tool{Name: "shell", Result: "pushed"}
			if c.fails {
				tool = &looptest.Tool{Name: "shell", Err: fmt.Errorf("broken")}
			}
			r := ran(t, hooks(t, c.script), looptest.Harness{Tools: []agent.Tool{tool}})
			messages := r.Script.Requests()[1].Messages
			if read := messages[len(messages)-1].Content; !strings.Contains(read, c.read) || r.Calls[0].Output != c.output {
				t.Errorf("the model read %q, recorded %q", read, r.Calls[0].Output)
			}
		})
	}
}

func TestPromptsAndSessions(t *testing.T) {
	t.Run("context", func(t *testing.T) {
		h := hooks(
			t,
			script{"SessionStart", "startup", "echo On branch main", ""},
			script{"SessionStart", "resume", "echo old", ""},
			script{"UserPromptSubmit", "ignored", "echo It is Monday", ""},
		)
		r := ran(t, h, looptest.Harness{})
		for _, request := range r.Script.Requests() {
			text := fmt.Sprint(request.Messages)
			if !strings.Contains(text, "On branch main") || !strings.Contains(text, "It is Monday") ||
				strings.Contains(text, "old") {
				t.Errorf("the model read %s", text)
			}
		}
	})
	t.Run("blocked prompt", func(t *testing.T) {
		h := hooks(
			t,
			script{"UserPromptSubmit", "", `grep -q '"prompt":"push it"' && echo "no secrets please" >&2 && exit 2`, ""},
		)
		if r := ran(t, h, looptest.Harness{}); r.Reply != "no secrets please" || r.ModelCalls != 0 {
			t.Errorf("reply %q after %d calls", r.Reply, r.ModelCalls)
		}
	})
	t.Run("messages for the user", func(t *testing.T) {
		h := hooks(t, script{"SessionStart", "", say(`{"systemMessage":"hello"}`), ""},
			script{"SessionEnd", "", "echo bye >&2; exit 2", ""})
		var got []claudecode.Message
		h.Notify = func(m claudecode.Message) { got = append(got, m) }
		ran(t, h, looptest.Harness{})
		if !slices.Equal(
			got,
			[]claudecode.Message{{Event: "SessionStart", Text: "hello"}, {Event: "SessionEnd", Text: "bye"}},
		) {
			t.Errorf("the user read %q", got)
		}
	})
	t.Run("stop", func(t *testing.T) {
		for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch"} {
			h := hooks(t, script{event, "", say(`{"continue":false,"stopReason":"enough"}`), ""})
			if r := ran(t, h, looptest.Harness{}); r.Stop.Cause != agent.CauseStopRequested || r.ModelCalls > 1 {
				t.Errorf("%s: %+v after %d calls", event, r.Stop, r.ModelCalls)
			}
		}
	})
}

func TestStop(t *testing.T) {
	gate := `input=$(cat); case "$input" in *'"stop_hook_active":true'*) exit 0;; esac; ` +
		`echo "run the tests first" >&2; exit 2`
	t.Run("rejects once", func(t *testing.T) {
		r := ran(t, hooks(t, script{"Stop", "", gate, ""}), looptest.Harness{})
		last := r.Script.Requests()[2].Messages
		if r.Reply != "better" || !strings.Contains(fmt.Sprint(last), "Stop hook feedback:\nrun the tests first") {
			t.Errorf("reply %q, the model read %v", r.Reply, last)
		}
	})
	t.Run("reads the transcript", func(t *testing.T) {
		find := `path=$(sed 's/.*"transcript_path":"\([^"]*\)".*/\1/'); cp "$path" seen; ` +
			`grep '"role":"assistant"' "$path" | tail -1 | grep -q '"text":"better"' && exit 0; echo again >&2; exit 2`
		h := hooks(t, script{"Stop", "", find, ""})
		if r := ran(t, h, looptest.Harness{}); r.Reply != "better" {
			t.Errorf("reply %q", r.Reply)
		}
		for _, want := range []string{`"type":"tool_use"`, `"command":"git push"`, `"type":"tool_result"`, `push it`} {
			if text := read(t, h, "seen"); !strings.Contains(text, want) {
				t.Errorf("the transcript lacks %s: %s", want, text)
			}
		}
	})
}

// Scripts iterate over the content, also of a message with an image alone. A script in the background may read the
// transcript of an earlier event while the next one is written.
func TestTranscriptsAreReadable(t *testing.T) {
	h := hooks(t, script{"PreToolUse", "", `path=$(sed 's/.*"transcript_path":"\([^"]*\)".*/\1/'); cat "$path" >seen`, ""})
	all := new(agent.Hooks)
	all.Use(h)
	said := talk{messages: []agent.Message{{Role: agent.RoleUser, Parts: []agent.Part{{MediaType: "image/png"}}}}}
	run := agent.NewRun(&agent.Env{Conversation: &said})
	var early *os.File
	for id := range 2 {
		call := agent.ToolCallRequest{ID: fmt.Sprint(id), Name: "shell", Step: 1}
		if _, err := all.BeforeTool.Fire(t.Context(), run, &call); err != nil {
			t.Fatal(err)
		}
		if files, _ := os.ReadDir(h.TranscriptDir); len(files) != 1 {
			t.Fatalf("%d files", len(files))
		} else if early == nil {
			var err error
			if early, err = os.Open(filepath.Join(h.TranscriptDir, files[0].Name())); err != nil {
				t.Fatal(err)
			}
			defer early.Close()
		}
		said.messages = append(said.messages, agent.Message{Role: agent.RoleUser, Content: "more"})
	}
	if seen := read(t, h, "seen"); !strings.Contains(seen, `"content":[]`) || !strings.Contains(seen, "more") {
		t.Errorf("the transcript is %s", seen)
	}
	if text, err := io.ReadAll(early); err != nil || strings.Contains(string(text), "more") {
		t.Errorf("the file of the first event became %s, %v", text, err)
	}
}

type talk struct {
	agent.Conversation
	messages []agent.Message
}

func (c *talk) ID() string                { return "" }
func (c *talk) Messages() []agent.Message { return c.messages }

func TestSubagentEvents(t *testing.T) {
	h := hooks(
		t,
		script{
			"SubagentStart",
			"helper",
			"echo {\\\"hookSpecificOutput\\\":{\\\"additionalContext\\\":\\\"be quick\\\"}}",
			"",
		},
		script{"SubagentStop", "", `grep -q '"stop_hook_active":true' && exit 0; echo more >&2; exit 2`, ""},
		script{"SubagentStop", "", "cat >>inputs", ""},
		script{"Stop", "", "echo stop >> stops", ""},
		script{"SessionEnd", "", "echo end >> ends", ""},
	)
	inner := looptest.NewScript(looptest.Reply("short"), looptest.Reply("long"))
	helper := &loop.Agent{Name: "helper", Model: inner}
	r := ran(t, h, looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"think"}`), looptest.Reply("ok")},
		Tools: []agent.Tool{loop.Subagent(helper)},
	})
	if len(r.Calls) == 0 || len(inner.Requests()) == 0 {
		t.Fatalf("%v: %+v", r.Failed, r.AgentResult)
	}
	if r.Calls[0].Output != "long" || !strings.Contains(fmt.Sprint(inner.Requests()[0].Messages), "be quick") {
		t.Errorf("%+v, the sub-agent read %v", r.Calls[0], inner.Requests()[0].Messages)
	}
	if seen := read(t, h, "inputs"); !strings.Contains(seen, `"agent_type":"helper"`) ||
		!strings.Contains(seen, `"agent_transcript_path":"/`) {
		t.Errorf("the script of SubagentStop read %s", seen)
	}
	if read(t, h, "stops") != "stop\n" || read(t, h, "ends") != "end\n" {
		t.Errorf("stops %q, ends %q", read(t, h, "stops"), read(t, h, "ends"))
	}
}

func TestClaudeHooksAreConformant(t *testing.T) {
	path := settings(t, script{"PreToolUse", "", "cat >/dev/null", ""}, script{"Stop", "", "exit 0", ""},
		script{"PostToolUse", "", "exit 0", ""})
	hooktest.Check(t, func() []hookkit.AnyPoint {
		h, err := claudecode.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		h.OnError = func(error) {}
		all := new(agent.Hooks)
		all.Use(h)
		return all.Points()
	})
}
