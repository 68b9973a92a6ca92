package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
)

// A CallError is why a hook of another process failed: the process was not reached, it replied with an error, or the
// reply is wrong. The text can contain the address of the process. A program that shows errors to people or models who
// must not read it finds a CallError with errors.As. A [Caller] may return a CallError of its own.
type CallError struct {
	Service string        // the name of the process: the text of the Caller if it has a String method, else its type
	Point   string        // the fire point
	Elapsed time.Duration // of the call; 0 if a Caller that returns CallErrors did not measure it
	Err     error         // never nil
}

// Error contains all fields.
func (e *CallError) Error() string {
	after := ""
	if e.Elapsed > 0 {
		unit := time.Millisecond
		if e.Elapsed < unit {
			unit = time.Microsecond
		}
		after = fmt.Sprintf(" after %v", e.Elapsed.Round(unit))
	}
	return fmt.Sprintf("%s failed at %s%s: %v", e.Service, e.Point, after, e.Err)
}

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

// Read converts a reply without an Error to the result of a hook at p. It returns an error if the reply is not legal at
// the point. Adapters that check a reply before they pass it on use it.
func (r Reply) Read(p hookkit.AnyPoint) (hookkit.AnyReply, error) {
	var out hookkit.AnyReply
	if r.Decision == Continue {
		if r.Value != nil || r.Reason != "" {
			return out, errors.New("$.decision: continue has neither a value nor a reason")
		}
	} else {
		o, err := r.outcome(p)
		if err != nil {
			return out, err
		}
		out.Outcome = o
	}
	if r.Collected == nil {
		return out, nil
	}
	if p.Contribution == nil {
		return out, fmt.Errorf("$.collected: hooks at %s contribute nothing", p.Name)
	}
	values := reflect.New(reflect.SliceOf(p.Contribution))
	err := strictjson.Decision.Unmarshal(context.Background(), r.Collected, values.Interface(), "$.collected")
	if err != nil {
		return out, err
	}
	if values.Elem().Len() > 0 {
		out.Collected = values.Elem().Interface()
	}
	return out, nil
}

// outcome returns the outcome for a decision that is not to continue.
func (r Reply) outcome(p hookkit.AnyPoint) (any, error) {
	legal := []string{Continue}
	for _, o := range p.Outcomes {
		name, rewrites := decisionOf(o)
		legal = append(legal, name)
		if name != r.Decision {
			continue
		}
		if !rewrites && r.Reason != "" {
			return nil, fmt.Errorf("$.reason: belongs to replace and edit; an exit has its reason in $.value")
		}
		if rewrites && r.Value == nil {
			return nil, fmt.Errorf("$.value: missing; %s needs one", name)
		}
		value := reflect.New(o.Type)
		if r.Value != nil {
			err := strictjson.Decision.Unmarshal(context.Background(), r.Value, value.Interface(), "$.value")
			if err != nil {
				return nil, err
			}
		}
		return o.New(value.Elem().Interface(), r.Reason)
	}
	return nil, fmt.Errorf("$.decision: %.100q is not legal; use %s", r.Decision, strings.Join(legal, ", "))
}

// decisionOf returns the name of an outcome in a Reply, and whether it replaces or edits the payload.
func decisionOf(o hookkit.Outcome) (name string, rewrites bool) {
	switch o.Name {
	case hookkit.DecisionReplace:
		return Replace, true
	case hookkit.DecisionEdit:
		return Edit, true
	}
	return o.Name, false
}

// NewReply converts the result of a fire at p to a reply. It is the counterpart of [Reply.Read].
func NewReply(p hookkit.AnyPoint, fired hookkit.AnyFired) (Reply, error) {
	r := Reply{Decision: Continue}
	var value any
	for _, o := range p.Outcomes {
		name, rewrites := decisionOf(o)
		switch {
		case fired.Exit != nil && !rewrites && reflect.TypeOf(fired.Exit) == o.Type:
			r.Decision, value = name, fired.Exit
		case fired.Exit == nil && rewrites && o.Name == rewriteOf(p, fired):
			r.Decision, r.Reason, value = name, fired.Reason, fired.Final
			if name == Edit {
				value = strictjson.EditedField(fired.Final, o.Type).Interface()
			}
		}
	}
	if fired.Exit != nil && r.Decision == Continue {
		return Reply{}, fmt.Errorf("wire: the outcome %T of %s cannot be written", fired.Exit, p.Name)
	}
	var err error
	if r.Decision != Continue {
		if r.Value, err = json.Marshal(value); err != nil {
			return Reply{}, fmt.Errorf("wire: the %s of %s cannot be written: %w", r.Decision, p.Name, err)
		}
	}
	if fired.Collected != nil {
		if r.Collected, err = json.Marshal(fired.Collected); err != nil {
			return Reply{}, fmt.Errorf("wire: the contributions to %s cannot be written: %w", p.Name, err)
		}
	}
	return r, nil
}

// rewriteOf returns how the payload was changed: "Replace", "Edit", or "". The last hook that changed it may have
// edited the replacement of an earlier one. An edit alone would then lose the rest of the replacement.
func rewriteOf(p hookkit.AnyPoint, fired hookkit.AnyFired) string {
	at := func(name string) int {
		return slices.IndexFunc(p.Outcomes, func(o hookkit.Outcome) bool { return o.Name == name })
	}
	if fired.Decision != hookkit.DecisionEdit || at(hookkit.DecisionReplace) < 0 {
		return fired.Decision
	}
	field := p.Outcomes[at(hookkit.DecisionEdit)].Type
	edited := reflect.New(reflect.TypeOf(fired.Payload)).Elem()
	edited.Set(reflect.ValueOf(fired.Payload))
	if edited.Kind() == reflect.Struct {
		strictjson.EditedField(edited.Addr().Interface(), field).Set(strictjson.EditedField(fired.Final, field))
		if reflect.DeepEqual(edited.Interface(), fired.Final) {
			return hookkit.DecisionEdit
		}
	}
	return hookkit.DecisionReplace
}
