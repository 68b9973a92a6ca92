package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Skills gives the model instructions for a kind of work only when it needs them.
//
// For example, an agent has long instructions for releases, for reviews and for migrations. The system prompt has only
// a list with the name and the description of each skill. For a release, the model calls the tool load_skill with the
// name "release". The result of that call are the instructions, so that they are sent once and then read from the cache
// of the provider, like the rest of the conversation. Add [Skills.Tool] to the tools of the agent:
//
//	skills := &prompt.Skills{List: []prompt.Skill{{Name: "release", Description: "publish a version", ...}}}
//	hooks.Use(skills)
//	a.Tools = append(a.Tools, skills.Tool())
//
// While a skill with a list of tools is active, calls of other tools are denied. If several skills are active, the
// tools of all of them are allowed; a skill without a list allows every tool. The tool that loads skills is always
// allowed. If an active skill has a Model, requests use it, the one loaded last if there are several.
//
// Skills adds the list to the system prompt at BeforeLLM, where it stays the same during the run and can be cached. If
// the conversation no longer has the instructions of an active skill, for example after a compaction or because another
// hook has truncated them, they follow the list. It decides at OnPermission, with the priority Safety, and observes
// AfterTool. The active skills belong to the run; a sub-run starts without skills. Skills is safe for concurrent use.
// Bind panics if List is empty, or if a name is empty or used twice.
type Skills struct {
	List []Skill

	runs hookkit.PerRun[[]string] // active skills in order of loading, each once
}

// A Skill is a set of instructions for a kind of work.
type Skill struct {
	Name         string   // for the model to load it; one line
	Description  string   // when to use the skill, in one line
	Instructions string   // how to do the work
	Tools        []string // tools that may be called; "*" matches any text in a name. Nil: all
	Model        string   // of requests while the skill is active; "": unchanged
}

// Bind adds the hook to its points.
func (s *Skills) Bind(h *agent.Hooks) {
	kit.MustConfig("prompt.Skills", s.check())
	h.BeforeLLM.Add(s, hookkit.Priority(hookkit.InputShape))
	h.OnPermission.Add(s, hookkit.Priority(hookkit.Safety))
	h.AfterTool.Observe(s)
	var names []kit.ToolName
	for i, skill := range s.List {
		names = append(names, kit.ToolNames(fmt.Sprintf("List[%d].Tools", i), skill.Tools)...)
	}
	kit.WatchTools("prompt.Skills", names...).AtStart(h)
}

func (s *Skills) check() error {
	if len(s.List) == 0 {
		return errors.New("List is empty; give a skill")
	}
	for i, skill := range s.List {
		if skill.Name == "" || s.skill(skill.Name) != &s.List[i] {
			return fmt.Errorf("List[%d] has the name %q, which is empty or used twice; give each skill its own name", i,
				skill.Name)
		}
		if err := toolname.Check(fmt.Sprintf("List[%d].Tools", i), skill.Tools); err != nil {
			return err
		}
	}
	return nil
}

// loadTool is the name of the tool that loads a skill.
const loadTool = "load_skill"

// skill returns the first skill with a name, or nil.
func (s *Skills) skill(name string) *Skill {
	if i := slices.IndexFunc(s.List, func(skill Skill) bool { return skill.Name == name }); i >= 0 {
		return &s.List[i]
	}
	return nil
}

// Active returns the names of the active skills of a run, in order of loading. The caller owns the slice.
func (s *Skills) Active(run *agent.Run) []string { return slices.Clone(s.runs.Load(run)) }

// active returns the active skills of a run.
func (s *Skills) active(run *agent.Run) (skills []*Skill) {
	for _, name := range s.runs.Load(run) {
		skills = append(skills, s.skill(name))
	}
	return skills
}

// ObserveAfterTool activates a skill that was loaded.
func (s *Skills) ObserveAfterTool(_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	call := fired.Payload.Call
	if call.Name != loadTool || !kit.Succeeded(fired.Payload) || fired.Err != nil || fired.Final.Err != "" {
		return
	}
	args, err := kit.ReadArgs[loadArgs](call)
	if err != nil || s.skill(args.Name) == nil {
		return
	}
	s.runs.Do(run, func(active *[]string) {
		// A clone, because Load returns the slice itself.
		others := slices.DeleteFunc(slices.Clone(*active), func(a string) bool { return a == args.Name })
		*active = append(others, args.Name)
	})
}

// loadArgs are the arguments of a call that loads a skill.
type loadArgs struct {
	Name string `json:"name"`
}

// text returns the instructions of a skill for the model.
func (skill *Skill) text() string {
	return "The skill " + shorten.Line(skill.Name, shorten.KeyChars) + " is active from now on. Its instructions:\n" +
		skill.Instructions
}

// BeforeLLM adds the list of skills to the system prompt, and selects the model.
func (s *Skills) BeforeLLM(
	_ context.Context, run *agent.Run, req agent.LLMRequest,
) (agent.BeforeLLMOutcome, error) {
	head := slices.IndexFunc(req.Messages, func(m agent.Message) bool {
		return m.Role != agent.RoleSystem || m.Name == agent.BriefingName
	})
	if head < 0 {
		head = len(req.Messages)
	}
	active := s.active(run)
	var missing []agent.Message
	add := func(text string, to []agent.Message, role agent.Role) {
		if !slices.ContainsFunc(to, func(m agent.Message) bool { return m.Role == role && m.Content == text }) {
			missing = append(missing, agent.Message{Role: agent.RoleSystem, Content: text})
		}
	}
	add(s.listText(), req.Messages[:head], agent.RoleSystem)
	for _, skill := range active {
		add(skill.text(), req.Messages[head:], agent.RoleTool)
	}
	if len(missing) > 0 {
		req.Messages = slices.Concat(req.Messages[:head], missing, req.Messages[head:])
	}
	for _, skill := range active {
		req.Model = cmp.Or(skill.Model, req.Model)
	}
	return agent.ReplaceBeforeLLM(req, "skills"), nil
}

func (s *Skills) listText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Skills are instructions for a kind of work. Load one with the tool %s before such work:",
		loadTool)
	for _, skill := range s.List {
		fmt.Fprintf(&b, "\n- %s: %s", shorten.Line(skill.Name, shorten.KeyChars), shorten.Line(skill.Description, 500))
	}
	return b.String()
}

// OnPermission denies calls of tools that no active skill allows.
func (s *Skills) OnPermission(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.OnPermissionOutcome, error) {
	active := s.active(run)
	allows := func(skill *Skill) bool { return skill.Tools == nil || toolname.Match(skill.Tools, call.Name) }
	if len(active) == 0 || call.Name == loadTool || slices.ContainsFunc(active, allows) {
		return nil, nil
	}
	var names, tools []string
	for _, skill := range active {
		names, tools = append(names, skill.Name), append(tools, skill.Tools...)
	}
	return agent.Deny{Reason: shorten.To(fmt.Sprintf("The active skill %s does not allow the tool %s. It allows: %s.",
		strings.Join(names, ", "), shorten.Line(call.Name, toolname.MaxDisplay), strings.Join(tools, ", ")), 1000)}, nil
}

// Tool returns the tool with which the model loads a skill. The skill becomes active after the call, because the tool
// does not know the run.
func (s *Skills) Tool() agent.Tool {
	return kit.Tool[loadArgs]{
		Described: agent.ToolSchema{
			Name: loadTool, Description: "Loads the instructions of a skill by its name.", ReadOnly: true,
			Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string",` +
				`"description":"the name of the skill"}},"required":["name"],"additionalProperties":false}`),
		},
		Run: func(_ context.Context, args loadArgs) (string, error) {
			if skill := s.skill(args.Name); skill != nil {
				return skill.text(), nil
			}
			return "", &agent.ToolError{Kind: agent.FailTool, NoRetry: true, Message: fmt.Sprintf(
				"there is no skill %q; take a name from the list of skills", shorten.To(args.Name, shorten.KeyChars))}
		},
	}
}
