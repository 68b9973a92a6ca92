package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// An Extractor keeps what was worth remembering of a conversation.
//
// It stands at OnRunEnd, at tier Observability. From 6 messages on it gives the last 20 to Extract and keeps at most
// 8 of the facts that come back: in Memory, each under a key of its kind and its text, so that the same fact is kept
// once, or in Dir, in a Markdown file per day (2006-01-02.md), or both. The first 4 also go to MEMORY.md in Dir, which
// stays. The file of a day has at most 8000 characters and MEMORY.md 4000: the oldest lines go. A line whose first 80
// characters are there already is not added to MEMORY.md, and of a day that has more than 2000 characters such lines
// go. Either Memory or Dir is required.
//
// Secrets are taken out; personal data stay unless Redact says otherwise, since they are what people want remembered.
// Runs that were started by a run are left out. What cannot be kept is reported as the hook's failure and does not
// touch the run.
type Extractor struct {
	Memory Store
	Dir    string
	// Extract finds the facts in the last messages; nil: [Extract].
	Extract func(ctx context.Context, run *agent.Run, messages []agent.Message) ([]Extracted, error)
	Redact  *redact.Redactor // nil: secrets are taken out, personal data stay

	seen hookkit.PerRun[bool]
}

// An Extracted is something worth remembering.
type Extracted struct {
	Kind string // remember, request, outcome, address, or any other
	Text string
}

const (
	extractFrom   = 6
	extractLast   = 20
	extractFacts  = 8
	extractStays  = 4
	extractText   = 300
	extractLeast  = 10
	extractDay    = 8000
	extractLong   = 4000
	extractDouble = 2000
	extractSame   = 80
)

// Bind adds the hook.
func (m *Extractor) Bind(h *agent.Hooks) {
	if m.Memory == nil && m.Dir == "" {
		kit.MustConfig("memory.Extractor", errors.New("Memory and Dir are both empty; set the one to keep facts in"))
	}
	h.OnRunEnd.Add(m, hookkit.Priority(hookkit.Observability))
}

// OnRunEnd extracts facts and keeps them.
func (m *Extractor) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var again bool
	m.seen.Do(run, func(seen *bool) { again, *seen = *seen, true })
	messages := kit.Messages(run)
	if messages == nil {
		messages = result.Messages
	}
	if again || run.Parent() != "" || len(messages) < extractFrom {
		return nil
	}
	extract := m.Extract
	if extract == nil {
		extract = func(_ context.Context, _ *agent.Run, messages []agent.Message) ([]Extracted, error) {
			return Extract(messages), nil
		}
	}
	found, err := extract(ctx, run, messages[max(0, len(messages)-extractLast):])
	facts := m.clean(found)
	if len(facts) == 0 {
		return err
	}
	if m.Memory != nil {
		for _, f := range facts {
			sum := sha256.Sum256([]byte(f.Text))
			_, failed := m.Memory.AddFact(ctx, Fact{Key: fmt.Sprintf("%s-%x", f.Kind, sum[:4]), Value: f.Text, Source: "conversation"})
			err = errors.Join(err, failed)
		}
		err = errors.Join(err, m.Memory.Flush(ctx))
	}
	if m.Dir != "" {
		err = errors.Join(err, m.write(run, facts))
	}
	return err
}

// clean makes facts fit to be kept, each once.
func (m *Extractor) clean(found []Extracted) (facts []Extracted) {
	redactor := m.Redact
	if redactor == nil {
		redactor = &redact.Redactor{KeepPersonal: true}
	}
	seen := make(map[string]bool)
	for _, f := range found {
		f.Kind = shorten.Line(cmp.Or(f.Kind, "fact"), 40)
		f.Text = shorten.Line(redactor.CutText(f.Text, extractText), extractText)
		same := shorten.Runes(f.Text, extractSame)
		if utf8.RuneCountInString(f.Text) < extractLeast || seen[same] {
			continue
		}
		seen[same] = true
		if facts = append(facts, f); len(facts) == extractFacts {
			break
		}
	}
	return facts
}

func (m *Extractor) write(run *agent.Run, facts []Extracted) error {
	var lines []string
	for _, f := range facts {
		lines = append(lines, fmt.Sprintf("- [%s] %s", f.Kind, f.Text))
	}
	day := kit.Env(run).Now().UTC().Format("2006-01-02")
	return errors.Join(
		addLines(filepath.Join(m.Dir, day+".md"), lines, extractDay, extractDouble),
		addLines(filepath.Join(m.Dir, "MEMORY.md"), lines[:min(len(lines), extractStays)], extractLong, 0),
	)
}

// addLines adds lines to a file of at most maxRunes characters. If it has more than double of them, lines that begin
// like an earlier one go.
func addLines(path string, lines []string, maxRunes, double int) error {
	defer atomicfile.Lock(path)()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var all []string
	if text := strings.TrimRight(shorten.Valid(string(data)), "\n"); text != "" {
		all = strings.Split(text, "\n")
	}
	all = append(all, lines...)
	if utf8.RuneCountInString(strings.Join(all, "\n"))+1 > double {
		seen := make(map[string]bool)
		var once []string
		for _, line := range all {
			same := shorten.Runes(line, extractSame)
			if line != "" && seen[same] {
				continue
			}
			seen[same] = true
			once = append(once, line)
		}
		all = once
	}
	left, from := maxRunes, len(all)
	for from > 0 && left > utf8.RuneCountInString(all[from-1]) {
		from--
		left -= utf8.RuneCountInString(all[from]) + 1
	}
	return atomicfile.Write(path, []byte(strings.Join(all[from:], "\n")+"\n"))
}

var (
	wantsMemory  = regexp.MustCompile(`(?i)\b(remember|don't forget|do not forget|keep in mind|note that|from now on|always|never again|for the record)\b`)
	wantsDone    = regexp.MustCompile(`(?i)^\s*(please|can you|could you|would you|i want|i need|i'd like|let's|help me|show me|make|write|find|fix|add|build|create|update|check|explain)\b`)
	tellsOutcome = regexp.MustCompile(`(?i)\b(done|finished|completed|created|fixed|saved|written|updated|installed|deployed|solved|succeeded|failed|could not|cannot)\b`)
	isAddress    = regexp.MustCompile(`\bhttps?://[^\s<>"'()]+[^\s<>"'().,;:!?]|(?:^|\s)(/[\w.-]+){2,}|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`)
)

// Extract finds, in English, what users asked to be remembered, what they asked for, what came of it, and the
// addresses that were mentioned, in this order. It looks at the first sentence that says so in each message; texts
// under 10 characters are skipped.
func Extract(messages []agent.Message) []Extracted {
	found := make(map[string][]Extracted)
	add := func(kind, text string) {
		if text = strings.TrimSpace(text); utf8.RuneCountInString(text) >= extractLeast {
			found[kind] = append(found[kind], Extracted{kind, text})
		}
	}
	for _, m := range messages {
		text := shorten.Runes(m.Content, signalChars)
		switch m.Role {
		case agent.RoleUser:
			if s := sentence(text, wantsMemory); s != "" {
				add("remember", s)
			} else if s := sentence(text, wantsDone); s != "" {
				add("request", s)
			}
		case agent.RoleAssistant:
			add("outcome", sentence(text, tellsOutcome))
		default:
			continue
		}
		for _, address := range isAddress.FindAllString(text, 4) {
			add("address", address)
		}
	}
	var facts []Extracted
	for _, kind := range []string{"remember", "request", "outcome", "address"} {
		facts = append(facts, found[kind]...)
	}
	return facts
}

// sentence returns the first sentence of a text that matches and is not too short, "" for none.
func sentence(text string, matching *regexp.Regexp) string {
	for line := range strings.Lines(text) {
		for _, s := range strings.SplitAfter(line, ". ") {
			if matching.MatchString(s) && utf8.RuneCountInString(strings.TrimSpace(s)) >= extractLeast {
				return s
			}
		}
	}
	return ""
}

// signalChars is how many characters of a text are looked at for a sign of failure.
const signalChars = 4000
