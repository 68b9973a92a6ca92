package eventlog

import (
	"cmp"
	"slices"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
)

// mostNameBytes bounds the names of one kind that are kept, each with its memory besides the text. The events and
// runs with other names have the name numbers.Others.
const (
	mostNameBytes = 4 << 20
	perName       = 64
)

// names numbers texts.
type names struct {
	numbers map[string]int32
	texts   []string
	counts  []int
	bytes   int
}

func (s *names) number(text string) int32 {
	n, ok := s.numbers[text]
	if !ok && s.bytes+len(text)+perName > mostNameBytes {
		text = numbers.Others
		n, ok = s.numbers[text]
	}
	if ok {
		return n
	}
	if s.numbers == nil {
		s.numbers = map[string]int32{}
	}
	n = int32(len(s.texts))
	s.numbers[text] = n
	s.texts = append(s.texts, text)
	s.counts = append(s.counts, 0)
	s.bytes += len(text) + perName
	return n
}

// A Name is a name in the record, and how many events or runs have it.
type Name struct {
	Name  string `json:"name"`
	Fires int    `json:"fires"`
}

// all returns the names that events or runs have.
func (s *names) all() []Name {
	all := []Name{}
	for i, text := range s.texts {
		if text != "" && s.counts[i] > 0 {
			all = append(all, Name{text, s.counts[i]})
		}
	}
	return all
}

// mostFrequent returns the most frequent names, at most mostNames, in alphabetical order.
func mostFrequent(all []Name) []Name {
	slices.SortFunc(all, func(a, b Name) int { return cmp.Compare(b.Fires, a.Fires) })
	all = all[:min(len(all), mostNames)]
	slices.SortFunc(all, func(a, b Name) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
