package hookimpl

import (
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// anyFired converts a pointer to the point's Fired struct. Its other fields depend on the law.
func (s *Snapshot) anyFired(fired any) hookkit.AnyFired {
	a := hookkit.AnyFired{Point: s.point.Name, Key: s.recording.key, Verdict: *s.recording.verdict}
	v := reflect.ValueOf(fired).Elem()
	for i := range v.NumField() - 1 {
		switch field := v.Field(i); v.Type().Field(i).Name {
		case "Payload":
			a.Payload = field.Interface()
			a.Final = a.Payload
		case "Final":
			if a.Decision != "" { // otherwise every hook continued, and a second copy would say the same
				a.Final = field.Interface()
			}
		case "Exit":
			a.Exit = field.Interface()
		case "Collected":
			if field.Len() > 0 {
				a.Collected = field.Interface()
			}
		case "Result":
			a.Result = field.Interface()
		case "Ballots":
			a.Ballots = field.Interface().([]hookkit.Ballot)
		case "Err":
			a.Err, _ = field.Interface().(error)
		}
	}
	return a
}
