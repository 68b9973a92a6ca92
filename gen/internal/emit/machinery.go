package emit

import (
	_ "embed" // for point.go.tmpl
	"strings"
	"sync"
	"text/template"

	"github.com/hookgen/hookgen/gen/model"
)

//go:embed point.go.tmpl
var pointTemplate string

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("point").Parse(pointTemplate))
})

// machinery renders the template: the description of the point for the runtime, and the loop over its hooks.
func (p *pointEmitter) machinery() (string, error) {
	p.PayloadType, p.CollectedType, p.ResultType = p.code(p.payload), p.code(p.collected), p.code(p.result)
	p.KeyType = p.code(p.key)
	var text strings.Builder
	if err := templates().Execute(&text, p); err != nil {
		return "", err
	}
	return formatted([]byte(text.String()))
}

// The kinds of a point, for the template.

func (p *pointEmitter) IsObserve() bool  { return p.Kind == model.Observe }
func (p *pointEmitter) IsFlow() bool     { return p.Kind == model.Flow }
func (p *pointEmitter) IsVote() bool     { return p.Kind == model.Vote }
func (p *pointEmitter) IsCollect() bool  { return p.Kind == model.Collect }
func (p *pointEmitter) IsCheck() bool    { return p.Kind == model.Check }
func (p *pointEmitter) IsCheckAll() bool { return p.Kind == model.CheckAll }
func (p *pointEmitter) IsAround() bool   { return p.Kind == model.Around }

// PayloadText returns the payload as the spec has it.
func (p *pointEmitter) PayloadText() string { return p.text(p.Payload.Expr) }

// Results returns the result list of runHooks, and ResultNames its names.
func (p *pointEmitter) Results() string {
	if p.IsObserve() {
		return ""
	}
	return "(" + strings.Join(p.results("exit "+p.Name+"Exit", "collected []"+p.CollectedType, "err error"), ", ") + ")"
}

func (p *pointEmitter) ResultNames() string {
	return strings.Join(p.results("exit", "collected", "err"), ", ")
}

// results returns the texts for those results that the law has: the exit, the contributions and the error.
func (p *pointEmitter) results(exit, collected, err string) []string {
	var chosen []string
	if p.Leaves() {
		chosen = append(chosen, exit)
	}
	if p.Collects() {
		chosen = append(chosen, collected)
	}
	if p.ReturnsErr() {
		chosen = append(chosen, err)
	}
	return chosen
}

// Bys returns the arguments of runHooks between the payload and the snapshot, each with a comma.
func (p *pointEmitter) Bys() string {
	text := ""
	if p.DecidedByOne() {
		text = "by, "
	}
	if p.CreditsMany() {
		text += "bys, "
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
func (p *pointEmitter) ExitCases() string { return p.exitList("") }
func (p *pointEmitter) ZeroExits() string { return p.exitList("{}") }

func (p *pointEmitter) exitList(suffix string) string {
	items := make([]string, len(p.Exits))
	for i, x := range p.Exits {
		items[i] = x + suffix
	}
	if line := strings.Join(items, ", "); len(line) < maxColumns-len("\t\t\tcase :") {
		return line
	}
	broken := strings.Join(items, ",\n")
	if suffix != "" {
		broken = "\n" + broken + ",\n"
	}
	return broken
}

// Wide reports whether the payload's type is so long that the parameters after it get a line of their own.
func (p *pointEmitter) Wide() bool {
	return p.payload.width > 20
}

// Method returns a method of an interface of the point as the only argument of a call, on a line of its own if the
// line would become too long.
func (p *pointEmitter) Method(of, name string) string {
	method := of + "[" + p.PayloadType + "]." + name
	if len("\t\tCalls:   hookimpl.DecidingAndCollecting(),")+len(method) > maxColumns {
		return "\n" + method + ",\n"
	}
	return method
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
