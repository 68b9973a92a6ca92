package hookimpl

import (
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// firedFields are the fields of a point's Fired struct, by index: Payload is always the first, and Verdict the last.
type firedFields struct{ final, exit, collected, result, ballots, err int }

// fieldsOf finds the fields that the Fired struct has; the others get index 0.
func fieldsOf(t reflect.Type) *firedFields {
	var at firedFields
	for name, index := range map[string]*int{"Final": &at.final, "Exit": &at.exit, "Collected": &at.collected,
		"Result": &at.result, "Ballots": &at.ballots, "Err": &at.err} {
		if f, ok := t.FieldByName(name); ok {
			*index = f.Index[0]
		}
	}
	return &at
}

// verdictOf returns the Verdict in a Fired struct.
func verdictOf(fired any) *hookkit.Verdict {
	v := reflect.ValueOf(fired).Elem()
	return v.Field(v.NumField() - 1).Addr().Interface().(*hookkit.Verdict)
}

// anyFired converts a pointer to the point's Fired struct.
func (s *Snapshot) anyFired(fired any) hookkit.AnyFired {
	p := s.point
	v := reflect.ValueOf(fired).Elem()
	at := p.fields.Load()
	if at == nil {
		at = fieldsOf(v.Type())
		p.fields.Store(at)
	}
	payload := v.Field(0).Interface()
	a := hookkit.AnyFired{Point: p.Name, Key: s.recording.key, Payload: payload, Final: payload,
		Verdict: *verdictOf(fired)}
	if at.final > 0 && a.Decision != "" { // otherwise every hook continued, and a second copy would say the same
		a.Final = v.Field(at.final).Interface()
	}
	if at.exit > 0 {
		a.Exit = v.Field(at.exit).Interface()
	}
	if at.collected > 0 && v.Field(at.collected).Len() > 0 {
		a.Collected = v.Field(at.collected).Interface()
	}
	if at.result > 0 {
		a.Result = v.Field(at.result).Interface()
	}
	if at.ballots > 0 {
		a.Ballots = *v.Field(at.ballots).Addr().Interface().(*[]hookkit.Ballot)
	}
	if at.err > 0 {
		a.Err = *v.Field(at.err).Addr().Interface().(*error)
	}
	return a
}
