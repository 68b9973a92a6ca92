package breaking

import (
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// An api is the part of the generated code that depends on the law of a point. The words are those of the generated
// code, so that messages show what to write.
type api struct {
	hook   string   // the results of a hook
	fired  []string // the fields of NFired that only some laws have
	param  string   // the payload parameter of Fire
	result []string // the results of Fire
	by     string   // the hooks that FireBy returns; "" at an around point, and without FireBy
}

// apiOf derives the api of a point.
func apiOf(p *gen.SurfacePoint) api {
	var a api
	var hook []string
	switch {
	case p.Decides():
		hook = append(hook, p.Name+"Outcome")
	case p.Kind == gen.Around:
		hook = append(hook, "hookkit.Answer["+p.Around.Text+"]")
	}
	if p.Collects() {
		hook = append(hook, "[]"+p.Collect.Text)
	}
	a.hook = list(append(hook, "error"))
	a.param = p.Payload.Text
	add := func(has bool, field, result string) {
		if !has {
			return
		}
		a.fired = append(a.fired, field)
		if result != "" {
			a.result = append(a.result, result)
		}
	}
	if p.Rewrites() {
		a.param = "*" + a.param
	}
	add(p.Rewrites(), "Final", "")
	add(p.Kind == gen.Around, "Result", p.Around.Text)
	add(p.Leaves(), "Exit", p.Name+"Exit")
	add(p.Collects(), "Collected", "[]"+p.Collect.Text)
	add(p.Kind == gen.Vote, "Ballots", "")
	add(p.ReturnsErr(), "Err", "error")
	switch {
	case p.Kind == gen.Check:
		a.by = "hookkit.By"
	case p.Kind == gen.CheckAll:
		a.by = "[]hookkit.By"
	}
	return a
}

// list returns a result list as Go has it.
func list(results []string) string {
	switch len(results) {
	case 0:
		return "nothing"
	case 1:
		return results[0]
	}
	return "(" + strings.Join(results, ", ") + ")"
}

// effect returns the verdict on a change of the law from one api to another, as far as the compiler sees it, and an
// explanation.
func effect(old, now api, point string) (Verdict, string) {
	var lost []string
	for _, field := range old.fired {
		if !slices.Contains(now.fired, field) {
			lost = append(lost, point+"Fired."+field)
		}
	}
	fire := ""
	switch {
	case old.param != now.param && !slices.Equal(old.result, now.result):
		fire = "Fire takes " + now.param + " and returns " + list(now.result)
	case old.param != now.param:
		fire = "Fire takes " + now.param + " instead of " + old.param
	case !slices.Equal(old.result, now.result):
		fire = "Fire returns " + list(now.result) + " instead of " + list(old.result)
	case old.by != now.by && old.by != "" && now.by != "":
		fire = "FireBy returns " + now.by + " instead of " + old.by
	}
	var effects []string
	verdict := Safe
	if old.hook != now.hook {
		effects, verdict = append(effects, "hooks return "+now.hook+" instead of "+old.hook), BreaksHooks
	}
	if len(lost) > 0 {
		effects, verdict = append(effects, "observers lose "+strings.Join(lost, " and ")), BreaksHooks
	}
	if fire != "" {
		effects = append(effects, fire)
		// A call of Fire without results is a statement, which also compiles if there are results now.
		if old.param != now.param || len(old.result) > 0 {
			verdict = Worse(verdict, BreaksLoops)
		}
	}
	return verdict, strings.Join(effects, ", ")
}
