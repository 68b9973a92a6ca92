package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Extractor stores facts from a conversation at the end of a run.
//
// For example, the user says "remember that the staging server is down on Fridays". The Extractor stores that fact, and
// an [Injector] shows it in the next run.
//
// By default the model of the run finds the facts, in the language of the conversation, which is one more model call
// per run. If it fails, the failure is reported and the function [Extract] finds them, which knows only English. Set
// Extract to a function that calls [Extract] to make no model call.
//
// The Extractor passes the last 20 messages to Extract and stores at most 8 of the returned facts; if there are more,
// it reports that. A fact replaces the current one with the same key. The model gives each fact a key, such as "home
// city", and is shown the keys that Store has, so that "I moved to Bern" replaces "lives in Oslo", which stays in the
// history. A fact without a key gets one from its kind and text, so that equal facts are stored once.
//
// With Procedures, the model also says which steps of a long run are worth repeating, so that the next run need not
// find them again. For example, an agent has found out in twelve steps how to restore the test database, and the fact
// "procedure restore the database" says "When the tests need data: 1. stop the server 2. run make restore". A run is
// long if it completed with at least 10 steps and 5 successful calls; the model is shown the last 50.
//
// The facts belong to the owner of the run; the option Share of [Facts] says which runs have one memory.
//
// Secrets are removed. Personal data stay unless Redact says otherwise, because users want them remembered; those in a
// procedure are removed, because it is not about a person. Sub-runs are ignored. A fact that cannot be stored is
// reported as a failure of the hook and does not affect the run. An Extractor is safe for concurrent use if its Store
// is.
type Extractor struct {
	Store Store // required
	// Extract finds facts in the last messages; nil: the model of the run finds them.
	Extract    func(ctx context.Context, run *agent.Run, messages []agent.Message) ([]Extracted, error)
	Procedures bool             // find procedures in long runs too; it has no effect on Extract
	Redact     *redact.Redactor // nil: remove secrets, keep personal data

	seen hookkit.PerRun[bool]
}

// Extracted is one fact found in a conversation.
type Extracted struct {
	Kind string // remember, request, outcome, address, procedure, or a kind of your own
	Text string
	Key  string // what the fact is about, for example "home city"; "": derived from Kind and Text
}

const (
	minMessages     = 2   // in a conversation that is searched for facts: a task and a reply
	searchedLast    = 20  // messages that are searched
	maxExtracted    = 8   // facts of one run
	maxFactChars    = 300 // of one fact, which is as much as a prompt shows
	minFactChars    = 10  // of one fact
	minOutcomeChars = 30  // of an outcome that Extract finds
	duplicatePrefix = 80  // characters that make two facts duplicates
)

// Bind adds the hook. It panics if Store is nil.
func (m *Extractor) Bind(h *agent.Hooks) {
	mustHaveStore("memory.Extractor", m.Store)
	h.OnRunEnd.Add(m, hookkit.Priority(hookkit.Observability))
}

// OnRunEnd extracts facts and stores them.
func (m *Extractor) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var again bool
	m.seen.Do(run, func(seen *bool) { again, *seen = *seen, true })
	messages := kit.Conversation(run, result)
	if again || run.Parent() != "" || len(messages) < minMessages || result.Suspended != nil {
		return nil
	}
	messages = messages[max(0, len(messages)-searchedLast):]
	var found []Extracted
	var err error
	if m.Extract != nil {
		found, err = m.Extract(ctx, run, messages)
	} else {
		found, err = m.extractWithModel(ctx, run, messages, m.callsToReview(result))
	}
	facts, dropped := m.clean(found)
	if dropped > 0 {
		err = errors.Join(err, fmt.Errorf("%d facts are not stored: a run stores at most %d", dropped, maxExtracted))
	}
	if len(facts) == 0 {
		return err
	}
	var known []Fact
	for _, f := range facts {
		sum := sha256.Sum256([]byte(f.Text))
		key := cmp.Or(f.Key, fmt.Sprintf("%s-%x", f.Kind, sum[:4]))
		known = append(known, Fact{Key: key, Value: f.Text, Source: "conversation"})
	}
	return errors.Join(err, m.Store.Put(kit.For(ctx, run), known...))
}

// clean redacts, shortens and deduplicates facts, and counts those beyond the most that a run stores.
func (m *Extractor) clean(found []Extracted) (facts []Extracted, dropped int) {
	seen := make(map[string]bool)
	for _, f := range found {
		redactor := cmp.Or(m.Redact, storable)
		if f.Kind == procedureKind {
			redactor = new(redact.Redactor)
			f.Key = strings.TrimSpace(procedureKind + " " + strings.TrimPrefix(f.Key, procedureKind+" "))
		}
		f.Kind = shorten.Line(cmp.Or(f.Kind, "fact"), 40)
		f.Key = shorten.Line(redactor.CutText(strings.TrimSpace(f.Key), shorten.KeyChars), shorten.KeyChars)
		f.Text = shorten.Line(redactor.CutText(f.Text, maxFactChars), maxFactChars)
		same := shorten.Runes(f.Text, duplicatePrefix)
		if utf8.RuneCountInString(f.Text) < minFactChars || seen[same] {
			continue
		}
		seen[same] = true
		if len(facts) == maxExtracted {
			dropped++
			continue
		}
		facts = append(facts, f)
	}
	return facts, dropped
}
