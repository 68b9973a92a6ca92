package memory

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// Search implements [Store].
func (m *Facts) Search(ctx context.Context, q Query) (found []Fact, more int, err error) {
	layers, err := m.read(ctx, q.Scope)
	if err != nil {
		return nil, 0, err
	}
	type place struct{ key, scope string }
	hidden := make(map[place]bool)
	var all []known
	for _, layer := range layers {
		for _, f := range slices.Backward(layer) {
			at := place{f.Key, f.Scope}
			if q.Scope != "" && f.Scope != q.Scope || !f.asOf(q) || hidden[at] && f.Scope != EpisodeScope {
				continue
			}
			hidden[at] = true
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b known) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	if q.Text != "" {
		if all, err = m.rank(ctx, all, q.Text); err != nil {
			return nil, 0, err
		}
	}
	if q.Limit > 0 && len(all) > q.Limit {
		all, more = all[:q.Limit], len(all)-q.Limit
	}
	for _, f := range all {
		found = append(found, f.Fact)
	}
	return found, more, nil
}

// asOf reports whether the fact was current at the time of a query.
func (f Fact) asOf(q Query) bool {
	if q.AsOf.IsZero() {
		return f.Current()
	}
	return !q.AsOf.Before(f.ValidFrom) && (f.ValidTo.IsZero() || q.AsOf.Before(f.ValidTo))
}

// rank returns the facts that match a text, those that match it best first.
func (m *Facts) rank(ctx context.Context, facts []known, text string) ([]known, error) {
	scores := wordScores(facts, text)
	if m.Embedder != nil && slices.ContainsFunc(facts, func(f known) bool { return f.vector != nil }) {
		asked := []change{{Value: text}}
		if err := m.embed(ctx, asked); err != nil {
			return nil, fmt.Errorf("the memory is not searched: %w", err)
		}
		for i, f := range facts {
			scores[i] = max(scores[i], similarity(asked[0].Vector, f.vector))
		}
	}
	var order []int
	for i := range facts {
		if scores[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	ranked := make([]known, len(order))
	for i, at := range order {
		ranked[i] = facts[at]
	}
	return ranked, nil
}

// searchedChars bounds the characters of a text that are searched.
const searchedChars = 4000

// wordScores returns for each fact how many of the text's words it has, from 0 for none to 1 for all that any fact has.
// A word that few facts have counts more.
func wordScores(facts []known, text string) []float64 {
	asked := wordsOf(text)
	long := maps.Clone(asked)
	maps.DeleteFunc(long, func(w string, _ bool) bool { return len(w) < 3 })
	if len(long) > 0 {
		asked = long // without words such as "is"
	}
	has, in := make([]map[string]bool, len(facts)), make(map[string]float64)
	for i, f := range facts {
		has[i] = wordsOf(f.Key + " " + f.Value)
		for w := range has[i] {
			if asked[w] {
				in[w]++
			}
		}
	}
	whole := 0.0
	scores := make([]float64, len(facts))
	for _, w := range slices.Sorted(maps.Keys(in)) { // in order, because sums of fractions depend on it
		weight := 1 / in[w]
		whole += weight
		for i := range facts {
			if has[i][w] {
				scores[i] += weight
			}
		}
	}
	for i := range scores {
		scores[i] /= max(whole, 1)
	}
	return scores
}

// wordsOf returns the words of a text. In scripts without spaces between words, each pair of letters counts as a word.
func wordsOf(text string) map[string]bool {
	words := make(map[string]bool)
	isNoWord := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, w := range strings.FieldsFunc(shorten.FoldCase(shorten.Runes(text, searchedChars)), isNoWord) {
		letters := []rune(w)
		if letters[0] < '\u0e00' || len(letters) == 1 {
			words[w] = true
			continue
		}
		for i := range len(letters) - 1 { // Thai, Chinese, Japanese and others
			words[string(letters[i:i+2])] = true
		}
	}
	return words
}

// embed sets the vectors of changes.
func (m *Facts) embed(ctx context.Context, changes []change) error {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = shorten.Runes(strings.TrimPrefix(c.Key+": "+c.Value, ": "), searchedChars)
	}
	vectors, err := m.Embedder.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(vectors), len(texts))
	}
	if err != nil {
		return err
	}
	for i, vector := range vectors {
		for _, x := range vector {
			changes[i].Vector = binary.LittleEndian.AppendUint32(changes[i].Vector, math.Float32bits(x))
		}
	}
	return nil
}

// similarity returns the cosine of the angle between two vectors, or 0 if they are not of the same embedder.
func similarity(a, b []byte) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, ofA, ofB float64
	for i := 0; i+4 <= len(a); i += 4 {
		x := float64(math.Float32frombits(binary.LittleEndian.Uint32(a[i:])))
		y := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
		dot, ofA, ofB = dot+x*y, ofA+x*x, ofB+y*y
	}
	if cosine := dot / math.Sqrt(ofA*ofB); !math.IsNaN(cosine) {
		return cosine
	}
	return 0
}
