package skew

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A step is one level of the path of a value. Paths are texts only in errors: with long keys, the texts of all paths
// would be much longer than the JSON.
type step struct {
	above *step // nil at the top
	name  string
	index int // of an item; -1 for a member
}

func (s *step) member(name string) *step { return &step{s, name, -1} }
func (s *step) item(i int) *step         { return &step{s, "", i} }

// String returns the beginning of the path, as in ".Items[3].Name".
func (s *step) String() string {
	var parts []string
	for ; s != nil; s = s.above {
		switch {
		case s.index >= 0:
			parts = append(parts, fmt.Sprintf("[%d]", s.index))
		case strings.ContainsFunc(s.name, func(r rune) bool { return !unicode.IsPrint(r) }):
			parts = append(parts, fmt.Sprintf(".%.100q", s.name))
		default:
			parts = append(parts, fmt.Sprintf(".%.100s", s.name))
		}
	}
	slices.Reverse(parts)
	return fmt.Sprintf("%.300s", strings.Join(parts, ""))
}
