package loop

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// An owned field of a payload is set only by the loop. A hook that builds a new payload may leave the field empty.
// Any other change is undone with a warning.
type owned struct {
	name    string
	changed bool
}

// ownedField compares a field of a payload with the loop's own value.
func ownedField[T comparable](name string, left, own T) owned {
	var empty T
	return owned{name, left != own && left != empty}
}

// warnOwned warns about owned fields that a hook changed, and returns the warning or "".
func (r *run) warnOwned(point string, by hookkit.By, fields ...owned) string {
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
