package claudecode

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/nextprompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/internal/filename"
)

// Hooks runs the scripts of settings files. [Read] makes one; set its other fields before Use.
//
// A script that fails (another exit status than 0 and 2, invalid JSON, a time limit, a program that is not installed)
// decides nothing, as in Claude Code, and is reported. Set FailClosed if the scripts are guards: then the failure
// refuses the prompt, the call or the answer.
//
// The scripts of PreToolUse run after the other hooks of BeforeTool, so that they see the arguments as they will be
// used. If the arguments change after that, for example by an approval, the scripts run again and can only refuse.
//
// State: per run, the texts for later prompts and the decisions about calls. A Hooks is safe for concurrent use.
type Hooks struct {
	// Ignored are the parts of the files that have no effect: the events without a point, the handlers that cannot run,
	// with their position and the reason, and the lists of permission rules, for example "permissions.deny". Package
	// permission has rules for calls. Bind reports all of them to OnError.
	Ignored []string

	FailClosed     bool            // a script that fails or cannot run refuses
	Tools          map[string]Tool // how the scripts know the tools of this agent, by its names; others keep their names
	ProjectDir     string          // CLAUDE_PROJECT_DIR and the working directory; "": that of the process
	TranscriptDir  string          // where transcripts are written for the scripts; "": none are written
	PermissionMode string          // permission_mode; "": default
	Effort         string          // effort.level and CLAUDE_EFFORT, for example high; "": scripts get none
	ScratchpadDir  string          // scratchpad_dir, where scripts may write; "": scripts get none
	Notify         func(Message)   // receives texts for the user; nil: they are dropped
	OnError        func(error)     // receives failures of scripts, also concurrently; nil: they are logged

	handlers map[string][]handler
	runs     hookkit.PerRun[state]
	failed   kit.Reporter
}

// A Tool is the name of a tool in Claude Code, for example Bash. Fields has the names of its arguments there, by their
// names here.
type Tool struct {
	Name   string
	Fields map[string]string
}

// A Message is a text for the user: the systemMessage or the stopReason of a script.
type Message struct {
	Event string
	Text  string
}

// state is the state of a run.
type state struct {
	lasting  []string // texts for every prompt
	next     nextprompt.Queue
	calls    map[string]decided // by the ID of the call, in this step
	step     int                // of the calls
	stopped  string             // why the run stops at the next boundary
	stops    bool
	rejected bool // a script has rejected an answer of this run
}

// Bind adds the hook to the points of the events that the files have.
func (h *Hooks) Bind(hooks *agent.Hooks) {
	if len(h.Ignored) > 0 {
		h.report(fmt.Errorf("parts of the settings have no effect here: %s", strings.Join(h.Ignored, "; ")))
	}
	// After other hooks, which may change the call or the answer that the scripts judge.
	late := hookkit.Priority(kit.LastPriority)
	hooks.OnRunStart.Add(h, hookkit.Priority(hookkit.Safety))
	hooks.Briefing.Add(h, hookkit.Priority(hookkit.InputShape))
	hooks.ShouldStop.Add(h, hookkit.Priority(hookkit.Safety))
	add := func(f func(), events ...string) {
		if slices.ContainsFunc(events, func(e string) bool { return len(h.handlers[e]) > 0 }) {
			f()
		}
	}
	add(func() {
		hooks.BeforeTool.Add(h, late)
		hooks.OnPermission.Add(h, hookkit.Priority(hookkit.Safety))
	}, "PreToolUse")
	add(func() { hooks.AfterTool.Add(h, hookkit.Priority(hookkit.Detection)) }, "PreToolUse", "PostToolUse",
		"PostToolUseFailure")
	add(func() { hooks.BeforeAsk.Add(h, hookkit.Priority(hookkit.Safety)) }, "PermissionRequest")
	add(func() { hooks.OnPermissionDenied.Add(h) }, "PermissionDenied")
	add(func() { hooks.AfterStep.Add(h) }, "PostToolBatch")
	add(func() { hooks.CheckDone.Add(h, late) }, "Stop", "SubagentStop")
	add(func() { hooks.OnRunError.Add(h) }, "StopFailure")
	add(func() { hooks.BeforeCompact.Add(h, hookkit.Priority(hookkit.Safety)) }, "PreCompact")
	add(func() { hooks.AfterCompact.Add(h, late) }, "PostCompact", "SessionStart")
	add(func() { hooks.OnRunEnd.Add(h) }, "SessionEnd")
	kit.WatchTools("claudecode.Hooks", h.toolNames()...).AtStart(hooks)
}

// toolNames returns the names of this agent's tools in Tools, and the matchers of scripts about tools.
func (h *Hooks) toolNames() []kit.ToolName {
	names := kit.ToolKeys("Tools", h.Tools)
	for _, event := range slices.Sorted(maps.Keys(h.handlers)) {
		if !slices.Contains(toolEvents, event) {
			continue
		}
		for _, c := range h.handlers[event] {
			names = append(names, kit.ToolName{At: c.at, Name: c.matcher, Match: func(tool string) bool {
				if known, ok := h.Tools[tool]; ok {
					tool = known.Name
				}
				return c.matches(tool)
			}})
		}
	}
	return names
}

// common returns the input of the scripts.
func (h *Hooks) common(run *agent.Run, o occasion) map[string]any {
	in := map[string]any{
		"session_id": session(run), "cwd": h.project(), "hook_event_name": o.event, "transcript_path": h.transcript(run, o),
		"permission_mode": cmp.Or(h.PermissionMode, "default"),
	}
	if h.Effort != "" {
		in["effort"] = map[string]any{"level": h.Effort}
	}
	if h.ScratchpadDir != "" {
		in["scratchpad_dir"] = absolute(h.ScratchpadDir)
	}
	if run != nil {
		in["prompt_id"] = run.Root()
	}
	if run != nil && run.Parent() != "" {
		in["agent_id"], in["agent_type"] = run.ID(), kit.Agent(run)
	}
	if server, _, ok := strings.Cut(strings.TrimPrefix(o.tool, "mcp__"), "__"); ok && strings.HasPrefix(o.tool, "mcp__") {
		in["mcp_server"] = map[string]any{"name": server}
	}
	maps.Copy(in, o.fields)
	return in
}

// session returns the ID of the session: the conversation, or else the topmost run.
func session(run *agent.Run) string {
	if run == nil {
		return ""
	}
	if id := kit.ConversationID(run); id != "" {
		return id
	}
	return run.Root()
}

func (h *Hooks) project() string { return absolute(h.ProjectDir) }

// absolute returns a directory from the root, because scripts change their own. "" is the working directory.
func absolute(dir string) string {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	return whole
}

func (h *Hooks) report(err error) { h.failed.Report("claudecode.Hooks", h.OnError, err) }

// A block is a part of a message in a transcript.
type block struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Input     any    `json:"input,omitempty"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
}

// A line is a line of a transcript. Scripts search lines for "role":"assistant", so the order of the fields counts.
type line struct {
	Type    string `json:"type"`
	Message struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	} `json:"message"`
}

// transcript writes the conversation to a file for the scripts, and returns its path. The answer that is being judged
// is the last line.
func (h *Hooks) transcript(run *agent.Run, o occasion) string {
	if h.TranscriptDir == "" || run == nil {
		return ""
	}
	var text []byte
	messages := kit.Messages(run)
	if last, ok := o.fields["last_assistant_message"].(string); ok {
		messages = append(messages, agent.Message{Role: agent.RoleAssistant, Content: last})
	}
	for _, m := range messages {
		var l line
		l.Type, l.Message.Role, l.Message.Content = string(m.Role), string(m.Role), []block{} // scripts iterate over it
		if m.Role == agent.RoleTool {
			l.Type, l.Message.Role = string(agent.RoleUser), string(agent.RoleUser)
			l.Message.Content = []block{{Type: "tool_result", ToolUseID: m.ToolCallID, Content: m.Content, IsError: m.IsError}}
		} else if m.Content != "" {
			l.Message.Content = []block{{Type: "text", Text: m.Content}}
		}
		for _, c := range m.ToolCalls {
			name, input := h.named(c)
			l.Message.Content = append(l.Message.Content, block{Type: "tool_use", ID: c.ID, Name: name, Input: input})
		}
		text = append(append(text, jsonx.Encode(l)...), '\n')
	}
	path := filepath.Join(absolute(h.TranscriptDir), filename.Of(run.ID())+".jsonl")
	h.report(atomicfile.Write(path, text)) // whole, because a script in the background may be reading it
	return path
}
