package eventlog

import (
	"cmp"
	"slices"
)

// names numbers texts.
type names struct {
	numbers map[string]int32
	texts   []string
	counts  []int
}

func (s *names) number(text string) int32 {
	if n, ok := s.numbers[text]; ok {
		return n
	}
	if s.numbers == nil {
		s.numbers = map[string]int32{}
	}
	n := int32(len(s.texts))
	s.numbers[text] = n
	s.texts = append(s.texts, text)
	s.counts = append(s.counts, 0)
	return n
}

// A Name is a name in the record, and how many events or runs have it.
type Name struct {
	Name  string `json:"name"`
	Fires int    `json:"fires"`
}

// list returns the most frequent names, at most most, in alphabetical order.
func (s *names) list(most int) []Name {
	all := []Name{}
	for i, text := range s.texts {
		if text != "" && s.counts[i] > 0 {
			all = append(all, Name{text, s.counts[i]})
		}
	}
	slices.SortFunc(all, func(a, b Name) int { return cmp.Compare(b.Fires, a.Fires) })
	all = all[:min(len(all), most)]
	slices.SortFunc(all, func(a, b Name) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
