package emit

import (
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A pointEmitter emits the code of one point. Its exported fields and methods are those of the templates.
type pointEmitter struct {
	*emitter
	*model.Point
	Lower     string // Name with a lower-case first letter
	ParamName string // the name of the payload parameter in the API

	PayloadType, EditedType, CollectedType, ResultType, KeyType string
	Aliases                                                     []string // of types that a local name would hide
}

// point returns the emitter of a point.
func (e *emitter) point(p *model.Point) *pointEmitter {
	pe := &pointEmitter{emitter: e, Point: p, Lower: LowerFirst(p.Name), ParamName: e.paramName(p)}
	pe.PayloadType, pe.EditedType = pe.local("Payload", p.Payload), pe.local("Edited", p.Edit)
	pe.CollectedType, pe.ResultType = pe.local("Collected", p.Collect), pe.local("Result", p.Around)
	pe.KeyType = pe.local("Key", p.Key.Type)
	return pe
}

// local returns a type as the functions of the point write it. If a local name of the functions would hide a part of
// it, this is an alias of the type. For example, a spec may have a type hook, and the loop has a variable of that name.
func (p *pointEmitter) local(what string, t model.Type) string {
	switch {
	case t.IsZero():
		return ""
	case p.hidden(t):
		alias := "hookgen" + what + "Of" + p.Name
		p.Aliases = append(p.Aliases, "type "+alias+" = "+p.Type(t))
		return alias
	}
	return p.Type(t)
}

// The kinds of a point.

func (p *pointEmitter) IsObserve() bool  { return p.Kind == model.Observe }
func (p *pointEmitter) IsFlow() bool     { return p.Kind == model.Flow }
func (p *pointEmitter) IsVote() bool     { return p.Kind == model.Vote }
func (p *pointEmitter) IsCollect() bool  { return p.Kind == model.Collect }
func (p *pointEmitter) IsCheck() bool    { return p.Kind == model.Check }
func (p *pointEmitter) IsCheckAll() bool { return p.Kind == model.CheckAll }
func (p *pointEmitter) IsAround() bool   { return p.Kind == model.Around }

// Named reports whether the point's comment begins with its name.
func (p *pointEmitter) Named() bool { return strings.HasPrefix(p.Doc, p.Name+" ") }

// PayloadText returns the payload as the spec has it.
func (p *pointEmitter) PayloadText() string { return p.text(p.Payload.Expr) }

// Outcomes returns the outcomes that a hook may return: constructors and exits.
func (p *pointEmitter) Outcomes() string {
	var all []string
	if p.Replace {
		all = append(all, "Replace"+p.Name)
	}
	if p.Edits() {
		all = append(all, "Edit"+p.Name)
	}
	return spelling.Or(append(all, p.Exits...))
}

// Arguments returns the arguments of runHooks between the payload and the snapshot, each with a comma: for the hooks
// that decided or contributed, and for the key.
func (p *pointEmitter) Arguments(by, bys, key string) string {
	text := ""
	if p.DecidedByOne() {
		text = by + ", "
	}
	if p.CreditsMany() {
		text += bys + ", "
	}
	if p.Keyed() {
		text += key + ", "
	}
	return text
}

// By returns the argument for the hook that decided.
func (p *pointEmitter) By() string {
	if p.DecidedByOne() {
		return "by"
	}
	return "nil"
}

// Constructor returns the function of the runtime that describes how hooks of the point are called.
func (p *pointEmitter) Constructor() string {
	switch {
	case p.Decides() && p.Collects():
		return "DecidingAndCollecting"
	case p.Decides():
		return "Deciding"
	case p.Collects():
		return "Collecting"
	}
	return "Checking"
}

// ExitCases returns the exits for a case, and ZeroExits a zero value of each for a composite literal. If there are
// many, each has a line of its own.
func (p *pointEmitter) ExitCases() string { return oneLine(p.Exits, maxColumns-len("\t\t\tcase :")) }

func (p *pointEmitter) ZeroExits() string {
	items := strings.Fields(strings.Join(p.Exits, "{} ") + "{}")
	text := oneLine(items, maxColumns-len("\t\t\tcase :")+len(items)*len("{}"))
	if strings.Contains(text, "\n") {
		return "\n" + text + ",\n"
	}
	return text
}

// Keyed reports whether the point has a key.
func (p *pointEmitter) Keyed() bool { return !p.Key.IsZero() }

// PointerPayload reports whether the payload is a pointer, which may be nil.
func (p *pointEmitter) PointerPayload() bool { return strings.HasPrefix(p.PayloadType, "*") }

// KeyIn returns the key of a payload.
func (p *pointEmitter) KeyIn(payload string) string {
	if p.PointerPayload() {
		return "(" + p.Lower + "Point{}).key(" + payload + ")"
	}
	return payload + "." + p.Key.Field
}

// PayloadKey returns the key of the payload that a fire begins with.
func (p *pointEmitter) PayloadKey() string {
	if p.PointerPayload() && p.Rewrites() {
		return p.KeyIn("*payload")
	}
	return p.KeyIn("payload")
}

// EditsKey reports whether an Edit could change the key, and EditedKey returns the key in the edited value.
func (p *pointEmitter) EditsKey() bool {
	first, _, _ := strings.Cut(p.Key.Field, ".")
	return p.Keyed() && first == p.EditField
}

func (p *pointEmitter) EditedKey() string {
	return "o.To" + strings.TrimPrefix(p.Key.Field, p.EditField)
}

// Rank returns the strength of the exit at an index of Exits, from 1.
func (p *pointEmitter) Rank(i int) int { return i + 1 }

// MatchResult returns the type parameter of Match, and MatchParams the parameter for each exit.
func (p *pointEmitter) MatchResult() string {
	result := "R"
	for slices.Contains(p.Exits, result) {
		result += "_"
	}
	return result
}

func (p *pointEmitter) MatchParams() []string { return p.matchParams(p.Exits) }
