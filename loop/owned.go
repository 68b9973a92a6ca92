package loop

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// An owned field of a payload is one that only the loop sets. A hook that replaces the payload may leave it empty,
// as in a payload that it made anew; any other change is undone and warned of.
type owned struct {
	name    string
	changed bool
}

// ownedField compares a field of a payload with the loop's own value.
func ownedField[T comparable](name string, left, own T) owned {
	var empty T
	return owned{name, left != own && left != empty}
}

// undo warns of owned fields that a hook changed, and returns the warning, "" if there is none.
func (r *run) undo(point string, by hookkit.By, fields ...owned) string {
	if by == (hookkit.By{}) {
		return ""
	}
	var changed []string
	for _, f := range fields {
		if f.changed {
			changed = append(changed, f.name)
		}
	}
	if changed == nil {
		return ""
	}
	text := fmt.Sprintf("%s: the hook %s (%s) changed %s, which only the loop may set; the change was undone",
		point, by.Hook, by.Site, strings.Join(changed, ", "))
	r.warn("%s", text)
	return text
}
