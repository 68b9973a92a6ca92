package memory

import (
	"context"
	_ "embed" // for the schemas
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Bounds on the arguments and the output of the tools.
const (
	maxToolKey     = shorten.KeyChars
	maxToolValue   = maxValueShown
	maxToolNote    = 2000
	maxToolHeading = maxHeading
	maxRecalled    = 20 // facts

	maxTurnsRecalled = 5
	maxTurnRecalled  = 1000 // characters of each text of a turn
)

// Tools returns tools with which a model keeps facts itself: remember, recall and forget. For example, a user says
// "call me Jo", the model calls remember, and the [Injector] of the next run shows the fact. The tool recall also finds
// the conversations that an [Archive] has stored. Give them to the agent as any other tool.
//
// Each tool acts for the owner of the run that calls it, by agentspec.IdentityOf: a model never changes the common
// memory or that of another owner. Without an owner, for example in a loop that does not name one, the tools fail. Keys
// have at most 80 characters and values at most 300, which is as much as a prompt shows. Secrets are redacted before
// they are stored; personal data are kept. Every change is made permanent at once.
//
// A fact that one run stores is part of the prompts of later runs. Text from a web page can ask the model to remember
// instructions; use permission.Rules to ask a person about remember if the agent reads untrusted text.
func Tools(s Store) []agent.Tool {
	if s == nil {
		panic("memory.Tools: the store is nil; give a memory.Facts or your own")
	}
	k := keeper{s}
	return []agent.Tool{toolOf("remember", k.remember), toolOf("recall", k.recall), toolOf("forget", k.forget)}
}

// NoteTool returns the tool append_note, with which a model appends to the notes of the owner of its run. The
// [NotesInjector] shows the notes. A note has at most 2000 characters. Secrets are redacted, and lines that look like
// headings are indented, so that a note cannot pretend to be two. What [Tools] says about owners and untrusted text
// applies here, too.
func NoteTool(n *Notes) agent.Tool {
	if n == nil {
		panic("memory.NoteTool: the notes are nil; give a memory.Notes")
	}
	return toolOf("append_note", func(ctx context.Context, args toolArgs) (string, error) {
		text, err := kept("text", args.Text, maxToolNote)
		if err != nil {
			return "", err
		}
		heading := shorten.Line(storable.CutText(args.Heading, maxToolHeading), maxToolHeading)
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "#") {
				lines[i] = " " + line
			}
		}
		if err := n.Append(ctx, strings.Join(lines, "\n"), heading); err != nil {
			return "", fmt.Errorf("the note is not stored: %w", err)
		}
		return "noted", nil
	})
}

// storable redacts the texts that are stored unless the operator says otherwise: personal data stay.
var storable = &redact.Redactor{KeepPersonal: true}

// toolArgs are the arguments of all tools of this file.
type toolArgs struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Query   string `json:"query"`
	Text    string `json:"text"`
	Heading string `json:"heading"`
}

// toolSchemas has the schema of a tool in each line.
//
//go:embed tools.jsonl
var toolSchemas string

// toolOf returns the tool whose schema has a name. It acts for the owner of the run that calls it.
func toolOf(name string, call func(context.Context, toolArgs) (string, error)) agent.Tool {
	for line := range strings.Lines(toolSchemas) {
		var schema agent.ToolSchema
		if json.Unmarshal([]byte(line), &schema) != nil || schema.Name != name {
			continue
		}
		return kit.Tool[toolArgs]{Described: schema, Run: func(ctx context.Context, args toolArgs) (string, error) {
			if agentspec.IdentityOf(ctx) == (agent.Identity{}) {
				return "", &agent.ToolError{
					Kind: agent.FailTool, NoRetry: true, Message: name + " needs an owner, and the run has none",
				}
			}
			return call(ctx, args)
		}}
	}
	panic("memory: there is no schema of the tool " + name)
}

// kept returns a text without secrets, or an error if it is blank or longer than most characters.
func kept(name, text string, most int) (string, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
	switch {
	case text == "":
		return "", &agent.ToolError{Kind: agent.FailArguments, Message: name + " is blank; give a text"}
	case len([]rune(text)) > most:
		return "", &agent.ToolError{
			Kind: agent.FailArguments, Message: fmt.Sprintf("%s has more than %d characters; give a shorter text", name, most),
		}
	}
	return storable.CutText(text, most), nil
}

// key returns a key as one line.
func (a toolArgs) key() (string, error) {
	key, err := kept("key", a.Key, maxToolKey)
	return shorten.Line(key, maxToolKey), err
}

// A keeper is a store that a model changes.
type keeper struct{ Store }

func (k keeper) remember(ctx context.Context, args toolArgs) (string, error) {
	key, err := args.key()
	if err != nil {
		return "", err
	}
	value, err := kept("value", args.Value, maxToolValue)
	if err != nil {
		return "", err
	}
	if err = k.Put(ctx, Fact{Key: key, Value: value, Source: "remember"}); err != nil {
		return "", fmt.Errorf("the fact is not stored: %w", err)
	}
	return "remembered: " + key, nil
}

func (k keeper) forget(ctx context.Context, args toolArgs) (string, error) {
	key, err := args.key()
	if err != nil {
		return "", err
	}
	had, err := k.Forget(ctx, key, GlobalScope)
	if err != nil {
		return "", fmt.Errorf("the fact is not removed: %w", err)
	}
	if !had {
		return "", errors.New("there is no fact with this key; call recall to see the keys")
	}
	return "forgotten: " + key, nil
}

func (k keeper) recall(ctx context.Context, args toolArgs) (string, error) {
	facts, more, err := k.Search(ctx, Query{Text: args.Query, Limit: maxRecalled})
	var turns []Fact
	moreTurns := 0
	if err == nil && args.Query != "" {
		turns, moreTurns, err = k.Search(ctx, Query{Text: args.Query, Scope: TurnScope, Limit: maxTurnsRecalled})
	}
	if err != nil {
		return "", fmt.Errorf("the memory cannot be read: %w", err)
	}
	var lines []string
	for _, f := range facts {
		lines = append(lines, factLine(f))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("There are %d more facts; ask with other words.", more))
	}
	for _, f := range turns {
		var t turn
		if json.Unmarshal([]byte(f.Value), &t) != nil {
			continue // put by a program
		}
		lines = append(lines, fmt.Sprintf("%s, the user: %s", f.UpdatedAt.UTC().Format("2006-01-02"),
			shorten.Line(t.User, maxTurnRecalled)), "you: "+shorten.Line(t.Reply, maxTurnRecalled))
	}
	if moreTurns > 0 {
		lines = append(lines, fmt.Sprintf("There are %d more conversations; ask with other words.", moreTurns))
	}
	if len(lines) == 0 {
		return "nothing found", nil
	}
	return strings.Join(lines, "\n"), nil
}
