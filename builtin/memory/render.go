package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// Bounds of one entry in a prompt, in characters.
const (
	maxValueShown   = 300
	maxPayloadShown = 80
)

// Render renders a store as text for a prompt: preferences, facts and episodes, each list with a title. It shows at
// most maxFacts preferences, maxFacts facts and maxEpisodes episodes. Of more facts, it shows those first that match
// the task best, and says how many are left out; in the other lists, the newest are shown. Each entry is one line, and
// long values are truncated. Render returns "" for an empty store, and the error of a store that fails.
func Render(ctx context.Context, s Store, task string, maxFacts, maxEpisodes int) (string, error) {
	var b strings.Builder
	if maxFacts > 0 {
		preferences, _, err := s.Search(ctx, Query{Scope: PreferenceScope, Limit: maxFacts})
		if err != nil {
			return "", fmt.Errorf("the preferences in memory: %w", err)
		}
		slices.SortFunc(preferences, func(a, b Fact) int { return strings.Compare(a.Key, b.Key) })
		section(&b, "Known preferences", preferences, factLine)
		facts, left, err := about(ctx, s, task, maxFacts)
		if err != nil {
			return "", fmt.Errorf("the facts in memory: %w", err)
		}
		section(&b, "Known facts", facts, factLine)
		if left > 0 {
			fmt.Fprintf(&b, "- (%d more in memory)\n", left)
		}
	}
	if maxEpisodes > 0 {
		episodes, err := Episodes(ctx, s, maxEpisodes)
		if err != nil {
			return "", fmt.Errorf("the episodes in memory: %w", err)
		}
		section(&b, "Recent outcomes", episodes, episodeLine)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// about returns at most n facts, and how many are left out. If there are more, those that match the text best are
// first, and then the newest.
func about(ctx context.Context, s Store, text string, n int) (facts []Fact, left int, err error) {
	newest, left, err := s.Search(ctx, Query{Limit: n})
	if err != nil || left == 0 || text == "" {
		return newest, left, err
	}
	facts, _, err = s.Search(ctx, Query{Text: text, Limit: n})
	for _, f := range newest {
		if len(facts) < n && !slices.ContainsFunc(facts, func(g Fact) bool { return g.ID == f.ID }) {
			facts = append(facts, f)
		}
	}
	return facts, left, err
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

// factLine renders a fact or a preference on one line.
func factLine(f Fact) string {
	key := shorten.Line(f.Key, shorten.KeyChars)
	if f.Scope != GlobalScope && f.Scope != PreferenceScope {
		key += " [" + shorten.Line(f.Scope, shorten.KeyChars) + "]"
	}
	return key + ": " + shorten.Line(f.Value, maxValueShown)
}

// episodeLine renders an episode on one line: kind, the first three fields of the payload, outcome.
func episodeLine(e Episode) string {
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
// escapes, because a store may have reformatted them.
func payloadValue(v json.RawMessage) string {
	if decoded, err := jsonx.Decode(v); err == nil {
		v = jsonx.Encode(decoded)
	}
	return shorten.JSON(v, maxPayloadShown)
}
