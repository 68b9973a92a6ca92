package hookimpl

import (
	"cmp"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// A Replacement is embedded in the outcomes that Replace and Edit constructors make.
type Replacement struct{ kind, reason string }

// Replaced returns the Replacement of a Replace constructor.
func Replaced(reason string) Replacement { return Replacement{"Replace", reason} }

// Edited returns the Replacement of an Edit constructor.
func Edited(reason string) Replacement { return Replacement{"Edit", reason} }

func (r Replacement) decision() (string, string) { return r.kind, r.reason }

// decision describes a decision of the entry's hook.
func (e *entry) decision(outcome any) hookkit.By {
	by := hookkit.By{Hook: e.name, Site: e.site}
	by.Decision, by.Reason = describe(outcome)
	return by
}

// describe names an outcome and its reason. The reason of an exit is its field Reason, if that is a string.
func describe(outcome any) (decision, reason string) {
	switch o := outcome.(type) {
	case nil:
		return "", ""
	case interface{ decision() (string, string) }:
		return o.decision()
	}
	v := reflect.ValueOf(outcome)
	if v.Kind() == reflect.Struct {
		if f, ok := v.Type().FieldByName("Reason"); ok && f.Type.Kind() == reflect.String {
			if r, err := v.FieldByIndexErr(f.Index); err == nil { // not inside a nil pointer
				reason = r.String()
			}
		}
	}
	return cmp.Or(v.Type().Name(), v.Type().String()), reason
}

// Unmatched returns the panic value of a Match function that was given an exit of no known type, for example one
// embedded in another struct. No fire returns such an exit.
func Unmatched(point string, exit any) string {
	return "hookkit: Match" + point + ": " + Illegal(exit).Error()
}
