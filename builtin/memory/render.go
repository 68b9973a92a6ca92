package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// Bounds of one entry in a prompt, in characters.
const (
	maxValueShown   = 300
	maxPayloadShown = 80
)

// Render renders a store as text for a prompt: preferences, facts and episodes, each list with a title. It shows at
// most maxFacts preferences, maxFacts facts and maxEpisodes episodes, newest first. Each entry is one line, and long
// values are truncated. Render returns "" for an empty store, and the error of a store that fails.
func Render(ctx context.Context, m Store, maxFacts, maxEpisodes int) (string, error) {
	return render(ctx, m, maxFacts, maxEpisodes, "")
}

// render is Render that shows the facts first that share most words with the task, and says how many it leaves out.
func render(ctx context.Context, m Store, maxFacts, maxEpisodes int, task string) (string, error) {
	preferences, err := m.Preferences(ctx)
	if err != nil {
		return "", fmt.Errorf("the preferences in memory: %w", err)
	}
	facts, err := m.Facts(ctx, "")
	if err != nil {
		return "", fmt.Errorf("the facts in memory: %w", err)
	}
	var episodes []Episode
	if maxEpisodes > 0 {
		if episodes, err = m.Recent(ctx, maxEpisodes, ""); err != nil {
			return "", fmt.Errorf("the episodes in memory: %w", err)
		}
	}
	preferences = newestPreferences(preferences, max(maxFacts, 0))

	var b strings.Builder
	section(&b, "Known preferences", preferences, func(p Preference) string {
		return shorten.Line(p.Key, shorten.KeyChars) + ": " + shorten.Line(p.Value, maxValueShown)
	})
	shown := min(len(facts), max(maxFacts, 0))
	if shown < len(facts) {
		facts = byWords(facts, task)
	}
	section(&b, "Known facts", facts[:shown], func(f Fact) string {
		key := shorten.Line(f.Key, shorten.KeyChars)
		if f.Scope != GlobalScope {
			key += " [" + shorten.Line(f.Scope, shorten.KeyChars) + "]"
		}
		return key + ": " + shorten.Line(f.Value, maxValueShown)
	})
	if left := len(facts) - shown; left > 0 && shown > 0 {
		fmt.Fprintf(&b, "- (%d more in memory)\n", left)
	}
	section(&b, "Recent outcomes", episodes, renderEpisode)
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// byWords returns facts in another order: those first that have most of the text's words, and among equals as before.
// Words of fewer than three characters do not count.
func byWords(facts []Fact, text string) []Fact {
	words := make(map[string]bool)
	for _, w := range strings.FieldsFunc(shorten.FoldCase(shorten.Runes(text, signalChars)), isNoWord) {
		words[w] = utf8.RuneCountInString(w) >= 3
	}
	shared := make([]int, len(facts))
	order := make([]int, len(facts))
	for i, f := range facts {
		order[i] = i
		seen := make(map[string]bool)
		for _, w := range strings.FieldsFunc(shorten.FoldCase(f.Key+" "+shorten.Runes(f.Value, signalChars)), isNoWord) {
			if words[w] && !seen[w] {
				seen[w] = true
				shared[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return shared[b] - shared[a] })
	sorted := make([]Fact, len(facts))
	for i, at := range order {
		sorted[i] = facts[at]
	}
	return sorted
}

func isNoWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// newestPreferences returns the n preferences that were set last, sorted by key.
func newestPreferences(all []Preference, n int) []Preference {
	if len(all) <= n {
		return all
	}
	newest := slices.Clone(all)
	slices.SortStableFunc(newest, func(a, b Preference) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	newest = newest[:n]
	slices.SortFunc(newest, func(a, b Preference) int { return strings.Compare(a.Key, b.Key) })
	return newest
}

func section[T any](b *strings.Builder, title string, entries []T, line func(T) string) {
	if len(entries) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	for _, e := range entries {
		fmt.Fprintf(b, "- %s\n", line(e))
	}
}

// renderEpisode renders an episode on one line: kind, the first three fields of the payload, outcome.
func renderEpisode(e Episode) string {
	line := "[" + shorten.Line(e.Kind, shorten.KeyChars) + "]"
	fields, ok := jsonx.Members(e.Payload, 3)
	for i, f := range fields {
		if i > 0 {
			line += ","
		}
		line += " " + shorten.Line(f.Key, shorten.KeyChars) + "=" + payloadValue(f.Value)
	}
	if !ok && len(fields) == 0 && len(e.Payload) > 0 {
		line += " " + payloadValue(e.Payload)
	}
	return line + " → " + shorten.Line(e.Outcome, maxPayloadShown)
}

// payloadValue renders a payload value on one line. Equal values are rendered equally whatever their spacing and
// escapes, because a memory file may have reformatted them.
func payloadValue(v json.RawMessage) string {
	if json.Valid(v) {
		v, _ = jsonx.RewriteTexts(v, func(s string) string { return s })
	}
	return shorten.JSON(v, maxPayloadShown)
}
