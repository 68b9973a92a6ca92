package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/ownerpath"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Extractor stores facts from a conversation at the end of a run.
//
// For example, the user says "remember that the staging server is down on Fridays". The Extractor stores that fact, and
// an [Injector] shows it in the next run. Set Store, Dir, or both.
//
// By default the model of the run finds the facts, in the language of the conversation, which is one more model call
// per run. If it fails, the failure is reported and the function [Extract] finds them, which knows only English. Set
// Extract to a function that calls [Extract] to make no model call.
//
// The Extractor passes the last 20 messages to Extract and stores at most 8 of the returned facts; if there are more,
// it reports that. In Store, a fact replaces the current one with the same key. The model gives each fact a key, such
// as "home city", and is shown the keys that Store has, so that "I moved to Bern" replaces "lives in Oslo", which stays
// in the history. A fact without a key gets one from its kind and text, so that equal facts are stored once. In Dir,
// all facts go to the file of the day, such as 2006-01-02.md, and the first 4 also to MEMORY.md.
//
// The facts belong to the owner of the run. In Store, its option Share says which runs have one memory. In Dir, each
// conversation has its own directory, such as acme/ann/c for the tenant acme, the user ann and the conversation c; a
// missing name is "-". With Share: share.Everyone all files are in Dir itself. Facts of a run without a named
// conversation are not written to Dir, unless Share is wider.
//
// The file of a day has at most 8000 characters and MEMORY.md 4000; the oldest lines are dropped. Lines are duplicates
// if their first 80 characters are equal. MEMORY.md has no duplicates. Duplicates in the file of a day are removed when
// it exceeds 2000 characters.
//
// Secrets are removed. Personal data stay unless Redact says otherwise, because users want them remembered. Sub-runs
// are ignored. A fact that cannot be stored is reported as a failure of the hook and does not affect the run. An
// Extractor is safe for concurrent use if its Store is.
type Extractor struct {
	Store Store       // nil: facts are only written to Dir
	Dir   string      // "": facts are only added to Store
	Share share.Scope // the runs that have a directory in Dir in common
	// Extract finds facts in the last messages; nil: the model of the run finds them.
	Extract func(ctx context.Context, run *agent.Run, messages []agent.Message) ([]Extracted, error)
	Redact  *redact.Redactor // nil: remove secrets, keep personal data

	seen hookkit.PerRun[bool]
}

// Extracted is one fact found in a conversation.
type Extracted struct {
	Kind string // remember, request, outcome, address, or a kind of your own
	Text string
	Key  string // what the fact is about, for example "home city"; "": derived from Kind and Text
}

const (
	minMessages     = 2    // in a conversation that is searched for facts: a task and a reply
	searchedLast    = 20   // messages that are searched
	maxExtracted    = 8    // facts of one run
	maxLongTerm     = 4    // facts of one run that also go to MEMORY.md
	maxFactChars    = 300  // of one fact
	minFactChars    = 10   // of one fact
	maxDayChars     = 8000 // of the file of a day
	maxLongChars    = 4000 // of MEMORY.md
	dedupeDayFrom   = 2000 // characters of the file of a day from which duplicates are removed
	duplicatePrefix = 80   // characters that make two lines duplicates
)

// Bind adds the hook. It panics if neither Store nor Dir is set.
func (m *Extractor) Bind(h *agent.Hooks) {
	if m.Store == nil && m.Dir == "" {
		kit.MustConfig("memory.Extractor", errors.New("Store and Dir are both empty; set the one to keep facts in"))
	}
	kit.MustConfig("memory.Extractor", m.Share.Check())
	h.OnRunEnd.Add(m, hookkit.Priority(hookkit.Observability))
}

// OnRunEnd extracts facts and stores them.
func (m *Extractor) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var again bool
	m.seen.Do(run, func(seen *bool) { again, *seen = *seen, true })
	messages := kit.Messages(run)
	if messages == nil {
		messages = result.Messages
	}
	if again || run.Parent() != "" || len(messages) < minMessages || result.Suspended != nil {
		return nil
	}
	extract := m.Extract
	if extract == nil {
		extract = m.extractWithModel
	}
	found, err := extract(ctx, run, messages[max(0, len(messages)-searchedLast):])
	facts, dropped := m.clean(found)
	if dropped > 0 {
		err = errors.Join(err, fmt.Errorf("%d facts are not stored: a run stores at most %d", dropped, maxExtracted))
	}
	if len(facts) == 0 {
		return err
	}
	if m.Store != nil {
		var known []Fact
		for _, f := range facts {
			sum := sha256.Sum256([]byte(f.Text))
			key := cmp.Or(f.Key, fmt.Sprintf("%s-%x", f.Kind, sum[:4]))
			known = append(known, Fact{Key: key, Value: f.Text, Source: "conversation"})
		}
		err = errors.Join(err, m.Store.Put(kit.For(ctx, run), known...))
	}
	if m.Dir != "" && m.Share.Lasting(run) {
		err = errors.Join(err, m.write(run, facts))
	}
	return err
}

// clean redacts, shortens and deduplicates facts, and counts those beyond the most that a run stores.
func (m *Extractor) clean(found []Extracted) (facts []Extracted, dropped int) {
	redactor := m.Redact
	if redactor == nil {
		redactor = &redact.Redactor{KeepPersonal: true}
	}
	seen := make(map[string]bool)
	for _, f := range found {
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

func (m *Extractor) write(run *agent.Run, facts []Extracted) error {
	var lines []string
	for _, f := range facts {
		lines = append(lines, fmt.Sprintf("- [%s] %s", f.Kind, f.Text))
	}
	dir := m.Dir
	if owner := m.Share.Owner(run); owner != (agent.Identity{}) {
		dir = filepath.Join(dir, ownerpath.Of(owner))
	}
	day := kit.Env(run).Now().UTC().Format("2006-01-02")
	return errors.Join(
		addLines(filepath.Join(dir, day+".md"), lines, maxDayChars, dedupeDayFrom),
		addLines(filepath.Join(dir, "MEMORY.md"), lines[:min(len(lines), maxLongTerm)], maxLongChars, 0),
	)
}

// addLines adds lines to a file and drops the oldest lines until it has at most maxRunes characters. If the file has
// more than dedupeFrom characters, addLines first removes duplicates.
func addLines(path string, lines []string, maxRunes, dedupeFrom int) error {
	unlock, err := atomicfile.LockShared(path)
	if err != nil {
		return err
	}
	defer unlock()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var all []string
	if text := strings.TrimRight(shorten.Valid(string(data)), "\n"); text != "" {
		all = strings.Split(text, "\n")
	}
	all = append(all, lines...)
	if utf8.RuneCountInString(strings.Join(all, "\n"))+1 > dedupeFrom {
		seen := make(map[string]bool)
		var once []string
		for _, line := range all {
			same := shorten.Runes(line, duplicatePrefix)
			if line != "" && seen[same] {
				continue
			}
			seen[same] = true
			once = append(once, line)
		}
		all = once
	}
	room, from := maxRunes, len(all)
	for from > 0 && room > utf8.RuneCountInString(all[from-1]) {
		from--
		room -= utf8.RuneCountInString(all[from]) + 1
	}
	return atomicfile.Write(path, []byte(strings.Join(all[from:], "\n")+"\n"))
}
