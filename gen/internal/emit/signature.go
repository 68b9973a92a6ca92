package emit

import "strings"

// The parameters and results of the functions of a point.

var ctxAndRun = []param{{"ctx", "context.Context"}, {"run", "*Run"}}

// hookParams returns the parameters of a hook with a payload of the type.
func (p *pointEmitter) hookParams(payload string) []param {
	params := append(ctxAndRun[:2:2], param{p.ParamName, payload})
	if p.IsAround() {
		params = append(params, param{"next", p.Name + "Next"})
	}
	return params
}

// hookResults returns the results of a hook.
func (p *pointEmitter) hookResults() []param {
	var results []param
	switch {
	case p.IsAround():
		results = append(results, param{"", "hookkit.Answer[" + p.ResultType + "]"})
	case p.Decides():
		results = append(results, param{"", p.Name + "Outcome"})
	}
	if p.Collects() {
		results = append(results, param{"", "[]" + p.CollectedType})
	}
	return append(results, param{"", "error"})
}

// InterfaceSignature, FuncSignature and MethodSignature are those of a hook: in its interface, in the type of a
// function, and in the method of that type.
func (p *pointEmitter) InterfaceSignature() string {
	return signature(len(p.Name), p.hookParams("P"), p.hookResults())
}

func (p *pointEmitter) FuncSignature() string {
	return signature(len("type  func")+len(p.Name), p.hookParams(p.PayloadType), p.hookResults())
}

func (p *pointEmitter) MethodSignature() string {
	return signature(len("func (f Func)  {")+2*len(p.Name), p.hookParams(p.PayloadType), p.hookResults())
}

// ObserverSignature is that of an observer, and ObserveSignature that of a function that observes.
func (p *pointEmitter) ObserverSignature() string {
	return signature(len("Observe")+len(p.Name), append(ctxAndRun[:2:2], param{"fired", p.Name + "Fired[P]"}), nil)
}

func (p *pointEmitter) ObserveSignature() string {
	return signature(len("\t\tfunc"), []param{{"", "context.Context"}, {"", "*Run"},
		{"", p.Name + "Fired[" + p.PayloadType + "]"}}, nil)
}

// ConstructorSignature is that of the function that makes an outcome: Replace or Edit.
func (p *pointEmitter) ConstructorSignature(verb string) string {
	value := param{p.ParamName, p.PayloadType}
	if verb == "Edit" {
		value = param{"value", p.EditedType}
	}
	return signature(len("func  {")+len(verb+p.Name), []param{value, {"reason", "string"}},
		[]param{{"", p.Name + "Outcome"}})
}

// MatchSignature is that of Match.
func (p *pointEmitter) MatchSignature() string {
	result := p.MatchResult()
	params := []param{{"exit", p.Name + "Exit"}, {"none", "func() " + result}}
	for i, name := range p.MatchParams() {
		params = append(params, param{name, "func(" + p.Exits[i] + ") " + result})
	}
	return signature(len("func Match[R any] {")+len(p.Name), params, []param{{"", result}})
}

// FireSignature is that of Fire or FireBy.
func (p *pointEmitter) FireSignature(name string) string {
	payload := p.PayloadType
	if p.Rewrites() {
		payload = "*" + payload
	}
	params := append(ctxAndRun[:2:2], param{p.ParamName, payload})
	var results []param
	add := func(has bool, name, typ string) {
		if has {
			results = append(results, param{name, typ})
		}
	}
	if p.IsAround() {
		params = append(params, param{"act", "func(context.Context, " + p.PayloadType + ") (" + p.ResultType + ", error)"})
		add(true, "result", p.ResultType)
	}
	credits := name == "FireBy"
	add(p.Leaves(), "exit", p.Name+"Exit")
	add(credits && p.DecidedByOne(), "by", "hookkit.By")
	add(p.Collects(), "collected", "[]"+p.CollectedType)
	add(credits && p.CreditsMany(), "bys", "[]hookkit.By")
	add(p.ReturnsErr(), "err", "error")
	return signature(len("func (p *Point)  {")+len(p.Name)+len(name), params, results)
}

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

// Wide reports whether the payload's type is so long, or there are so many other parameters, that those get a line of
// their own.
func (p *pointEmitter) Wide() bool {
	return len(p.PayloadType) > 20 || p.Keyed() && p.DecidedByOne() && p.Collects()
}

// LongMethods reports whether the methods of a hook and of an observer do not fit on one line.
func (p *pointEmitter) LongMethods() bool { return 4*len(p.Name)+2*len(p.PayloadType) > maxColumns-40 }

// RegistryArguments returns the type arguments of the point's registry but for the functions.
func (p *pointEmitter) RegistryArguments() string {
	option := "hookkit.HookOption"
	if p.Decides() {
		option = "hookkit.GateOption"
	}
	return oneLine([]string{p.Lower + "Point", p.Name + "[" + p.PayloadType + "]",
		p.Name + "Observer[" + p.PayloadType + "]", option}, maxColumns)
}
