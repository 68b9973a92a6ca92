package memory

import (
	"context"
	_ "embed" // for the texts
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

//go:embed extract.txt
var extractPrompt string

// factSchema is the JSON Schema of the model's reply.
//
//go:embed facts.schema.json
var factSchema string

// maxKnown bounds the facts that the model is shown, so that it can replace them.
const maxKnown = 100

//go:embed procedures.txt
var proceduresPrompt string

const (
	procedureKind = "procedure"
	reviewedCalls = 50
	reviewedChars = 1000 // of the arguments and of the output of a call
)

// callsToReview returns the calls of a run that is long enough for procedures, or nil.
func (m *Extractor) callsToReview(result agent.AgentResult) []agent.ToolCallResult {
	succeeded := 0
	for _, c := range result.Calls {
		if kit.Succeeded(c) {
			succeeded++
		}
	}
	if !m.Procedures || result.Err != "" || result.Forced() || result.Steps < 10 || succeeded < 5 {
		return nil
	}
	return result.Calls[max(0, len(result.Calls)-reviewedCalls):]
}

// extractWithModel asks the run's model for facts, and for procedures if there are calls. If it fails, Extract finds
// the facts.
func (m *Extractor) extractWithModel(
	ctx context.Context, run *agent.Run, messages []agent.Message, calls []agent.ToolCallResult,
) ([]Extracted, error) {
	env := kit.Env(run)
	if env == nil || env.Model == nil {
		return Extract(messages), nil
	}
	var said, talk strings.Builder
	for _, m := range messages {
		if m.Role == agent.RoleUser || m.Role == agent.RoleAssistant {
			fmt.Fprintf(&said, "%s: %s\n\n", m.Role, shorten.Middle(m.Content, signalChars))
		}
	}
	known, _, err := about(kit.For(ctx, run), m.Store, said.String(), maxKnown)
	if err != nil {
		return nil, fmt.Errorf("the known facts: %w", err)
	}
	section(&talk, "Known facts", known, factLine)
	talk.WriteString("\nThe conversation:\n\n" + said.String())
	prompt := extractPrompt
	if len(calls) > 0 {
		prompt += proceduresPrompt
		talk.WriteString("Calls and results:\n\n")
	}
	for _, c := range calls {
		fmt.Fprintf(&talk, "%s %s\n%s\n\n", shorten.Line(c.Call.Name, shorten.KeyChars),
			shorten.Middle(string(c.Call.Args), reviewedChars), shorten.Middle(c.Content(), reviewedChars))
	}
	var reply struct{ Facts []Extracted }
	err = kit.Ask(ctx, env.Model, &agent.ResponseFormat{
		Type: "json_schema", Name: "facts", Schema: json.RawMessage(factSchema), Strict: true,
	}, prompt, talk.String(), "facts", &reply)
	if err != nil {
		return Extract(messages), fmt.Errorf("the model found no facts: %w", err)
	}
	if len(calls) == 0 { // the model was not asked for procedures
		reply.Facts = slices.DeleteFunc(reply.Facts, func(f Extracted) bool { return f.Kind == procedureKind })
	}
	return reply.Facts, nil
}

// patterns are the expressions of [Extract].
type patterns struct{ wantsMemory, wantsDone, statesOutcome, isAddress *regexp.Regexp }

// extracting compiles the patterns at the first use, because most programs of this package extract nothing, and then
// need not link package regexp/syntax.
var extracting = sync.OnceValue(func() patterns {
	return patterns{
		regexp.MustCompile(`(?i)\b(remember|don't forget|do not forget|keep in mind|note that|from now on|` +
			`always|never again|for the record)\b`),
		regexp.MustCompile(`(?i)^\s*(please|can you|could you|would you|i want|i need|i'd like|let's|help me|` +
			`show me|make|write|find|fix|add|build|create|update|check|explain)\b`),
		regexp.MustCompile(`(?i)\b(done|finished|completed|created|fixed|saved|written|updated|installed|` +
			`deployed|solved|succeeded|failed|could not|cannot)\b`),
		regexp.MustCompile(`\bhttps?://[^\s<>"'()]+[^\s<>"'().,;:!?]|(?:^|\s)(/[\w.-]+){2,}|` +
			`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`),
	}
})

// Extract finds facts in an English conversation, in this order: sentences that users asked to remember, requests of
// users, outcomes that the assistant reported, and addresses such as URLs and paths. From each message it takes the
// first matching sentence. It skips texts of fewer than 10 characters, and outcomes of fewer than 30, such as "I have
// finished the task." It finds nothing but addresses in other languages.
func Extract(messages []agent.Message) []Extracted {
	p := extracting()
	found := make(map[string][]Extracted)
	add := func(kind, text string) {
		if text = strings.TrimSpace(text); utf8.RuneCountInString(text) >= minFactChars {
			found[kind] = append(found[kind], Extracted{Kind: kind, Text: text})
		}
	}
	for _, m := range messages {
		text := shorten.Runes(m.Content, signalChars)
		switch m.Role {
		case agent.RoleUser:
			if s := sentence(text, p.wantsMemory, minFactChars); s != "" {
				add("remember", s)
			} else if s := sentence(text, p.wantsDone, minFactChars); s != "" {
				add("request", s)
			}
		case agent.RoleAssistant:
			add("outcome", sentence(text, p.statesOutcome, minOutcomeChars))
		default:
			continue
		}
		for _, address := range p.isAddress.FindAllString(text, 4) {
			add("address", address)
		}
	}
	var facts []Extracted
	for _, kind := range []string{"remember", "request", "outcome", "address"} {
		facts = append(facts, found[kind]...)
	}
	return facts
}

// sentence returns the first sentence of a text that matches and has at least least characters, or "".
func sentence(text string, matching *regexp.Regexp, least int) string {
	for line := range strings.Lines(text) {
		for _, s := range strings.SplitAfter(line, ". ") {
			if matching.MatchString(s) && utf8.RuneCountInString(strings.TrimSpace(s)) >= least {
				return s
			}
		}
	}
	return ""
}

// signalChars bounds the characters of a message that are searched for facts.
const signalChars = 4000
