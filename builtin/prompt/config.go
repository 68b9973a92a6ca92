package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Config sets the system prompt, additions to it, and the format of the reply.
//
// It rewrites every request at BeforeLLM, with the priority InputShape, so that nothing in a run can remove its
// settings. Empty fields change nothing. Config is safe for concurrent use.
//
//   - System replaces the system prompt, which is the first message if that is an unnamed system message. If there is
//     no such message, Config inserts one. The briefing and other system messages stay.
//   - ResponseFormat replaces the ResponseFormat of the request.
//   - Fragments are appended to the system prompt, each after a blank line. A text that is already present is not
//     appended again. A generated block is replaced at its position.
//
// The system prompt comes before the conversation, and providers cache the beginning of a request that repeats the one
// before. A block is therefore generated once for each run. For text that differs from step to step, contribute to
// Briefing, which comes after the conversation.
//
// A sub-run fires the hooks of the run that started it. For example, if the agents "writer" and "critic" have different
// system prompts, restrict each Config with Agents.
//
// If a fragment cannot be generated, the run fails. Bind panics on an invalid ResponseFormat, on an invalid fragment,
// and on two blocks with the same name.
type Config struct {
	System         string
	ResponseFormat *agent.ResponseFormat // nil or an empty Type: not set
	Fragments      []Fragment
	Agents         []string // names of the agents to configure; empty: all agents
}

// A Fragment is an addition to a system prompt. It is either a fixed Text or a block that Generate returns for the
// first request of each run. A block is enclosed in markers that contain its Name. A blank Text or block adds nothing.
type Fragment struct {
	Text     string
	Name     string // of a generated block; one line without "--"
	Generate func(ctx context.Context, run *agent.Run) (string, error)
}

// Bind adds the hook to BeforeLLM.
func (c *Config) Bind(h *agent.Hooks) {
	kit.MustConfig("prompt.Config", c.check())
	own := &configured{Config: *c}
	own.Fragments = slices.Clone(c.Fragments)
	h.BeforeLLM.Add(own, hookkit.Named("prompt.Config"), hookkit.Priority(hookkit.InputShape))
}

// configured is a Config in use.
type configured struct {
	Config
	blocks hookkit.PerRun[map[string]string] // what Generate returned, by name
}

func (c *Config) formats() bool { return c.ResponseFormat != nil && c.ResponseFormat.Type != "" }

func (c *Config) check() error {
	if c.formats() {
		f := c.ResponseFormat
		if !slices.Contains([]string{"text", "json_object", "json_schema"}, f.Type) {
			return fmt.Errorf("ResponseFormat.Type is %q; make it text, json_object or json_schema", f.Type)
		}
		if f.Type == "json_schema" && !json.Valid(f.Schema) {
			return errors.New("ResponseFormat.Schema is not valid JSON; give it the schema of the reply")
		}
	}
	for i, f := range c.Fragments {
		switch {
		case f.Generate == nil && f.Name != "":
			return fmt.Errorf("Fragments[%d] has the name %q but no Generate; set Generate, or leave the name out", i, f.Name)
		case f.Generate == nil:
		case f.Text != "":
			return fmt.Errorf("Fragments[%d] has a Text and a Generate; make two fragments of it", i)
		case strings.TrimSpace(f.Name) == "" || strings.Contains(f.Name, "--") || shorten.Line(f.Name, len(f.Name)) != f.Name:
			return fmt.Errorf("Fragments[%d].Name is %q; name the block in one line without \"--\"", i, f.Name)
		case slices.ContainsFunc(c.Fragments[:i], func(g Fragment) bool { return g.Name == f.Name }):
			return fmt.Errorf("Fragments[%d].Name is %q a second time; give each block a name of its own", i, f.Name)
		}
	}
	return nil
}

// BeforeLLM applies the configuration to a request.
func (c *configured) BeforeLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest,
) (agent.BeforeLLMOutcome, error) {
	if len(c.Agents) > 0 && !slices.Contains(c.Agents, kit.Agent(run)) {
		return nil, nil
	}
	has := len(req.Messages) > 0 && req.Messages[0].Role == agent.RoleSystem && req.Messages[0].Name == ""
	was := ""
	if has {
		was = req.Messages[0].Content
	}
	text := was
	if strings.TrimSpace(c.System) != "" {
		text = c.System
	}
	for _, f := range c.Fragments {
		var err error
		if text, err = c.with(ctx, run, text, f); err != nil {
			return nil, err
		}
	}
	var set []string
	if text != was {
		set = append(set, "system prompt")
		req.Messages = slices.Clone(req.Messages)
		if !has {
			req.Messages = slices.Insert(req.Messages, 0, agent.Message{Role: agent.RoleSystem})
		}
		req.Messages[0].Content = text
	}
	if c.formats() {
		set = append(set, "response format")
		f := *c.ResponseFormat
		f.Schema = slices.Clone(f.Schema)
		req.ResponseFormat = &f
	}
	if set == nil {
		return nil, nil
	}
	return agent.ReplaceBeforeLLM(req, "context configuration: "+strings.Join(set, ", ")), nil
}

// with returns the system prompt with a fragment added.
func (c *configured) with(ctx context.Context, run *agent.Run, prompt string, f Fragment) (string, error) {
	if f.Generate == nil {
		if strings.TrimSpace(f.Text) == "" || holdsParagraph(prompt, f.Text) {
			return prompt, nil
		}
		return paragraphs(prompt, f.Text), nil
	}
	text, err := c.block(ctx, run, f)
	if err != nil {
		return "", fmt.Errorf("the fragment %q could not be generated: %w", f.Name, err)
	}
	begin, end := "<!-- begin "+f.Name+" -->", "<!-- end "+f.Name+" -->"
	text = strings.Trim(strings.NewReplacer(begin, "", end, "").Replace(text), "\n")
	block := ""
	if strings.TrimSpace(text) != "" {
		block = begin + "\n" + text + "\n" + end
	}
	before, rest, found := strings.Cut(prompt, begin)
	_, after, closed := strings.Cut(rest, end)
	switch {
	case found && closed && block != "":
		return before + block + after, nil
	case found && closed:
		return paragraphs(strings.TrimRight(before, "\n"), strings.TrimLeft(after, "\n")), nil
	}
	return paragraphs(prompt, block), nil
}

// block returns the text of a generated fragment, which is the same in all requests of a run.
func (c *configured) block(ctx context.Context, run *agent.Run, f Fragment) (text string, err error) {
	var known bool
	if run != nil {
		text, known = c.blocks.Load(run)[f.Name]
	}
	if known {
		return text, nil
	}
	if text, err = f.Generate(ctx, run); err != nil || run == nil {
		return text, err
	}
	c.blocks.Do(run, func(blocks *map[string]string) {
		*blocks = maps.Clone(*blocks) // another request may read the old one
		if *blocks == nil {
			*blocks = make(map[string]string)
		}
		(*blocks)[f.Name] = text
	})
	return text, nil
}

// paragraphs joins two texts with a blank line, unless one of them is empty.
func paragraphs(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimRight(a, "\n") + "\n\n" + b
}

// holdsParagraph reports whether text contains piece as complete lines.
func holdsParagraph(text, piece string) bool {
	return strings.Contains("\n"+text+"\n", "\n"+piece+"\n")
}
