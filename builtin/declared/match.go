package declared

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A matcher selects the calls that a hook is asked about. The zero value selects all payloads.
type matcher struct {
	tools []string
	when  permission.Predicate
}

// decodePoints decodes the points of the hook.
func (d *declaration) decodePoints() (points []hookkit.AnyPoint, err error) {
	at, ok := d.given["at"]
	if !ok {
		return nil, d.at.errorf(`the hook has no point; give it one, for example "at": ["OnPermission"]`)
	}
	names, err := at.texts()
	if err != nil {
		return nil, err
	}
	all := new(agent.Hooks).Points()
	for i, name := range names {
		n := slices.IndexFunc(all, func(p hookkit.AnyPoint) bool { return p.Name == name })
		switch {
		case n < 0:
			return nil, at.items[i].errorf("%s", unknownPoint(name, all))
		case strings.HasPrefix(all[n].Results, "Around["):
			return nil, at.items[i].errorf("hooks at %s wrap an act of the program, so they cannot be declared", name)
		case slices.ContainsFunc(points, func(p hookkit.AnyPoint) bool { return p.Name == name }):
			return nil, at.items[i].errorf("the point %s occurs twice", name)
		}
		points = append(points, all[n])
	}
	return points, nil
}

func unknownPoint(name string, all []hookkit.AnyPoint) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	if meant := spelling.Suggest(name, names); meant != "" {
		return fmt.Sprintf("unknown point %q; did you mean %q?", name, meant)
	}
	return fmt.Sprintf("unknown point %q; docs/agents/agent-points.md lists the points", name)
}

// decodeMatch decodes the matcher of the hook. A hook at a point without a tool call cannot have one.
func (d *declaration) decodeMatch() (m matcher, err error) {
	tools, hasTools := d.given["tools"]
	when, hasWhen := d.given["when"]
	if hasTools {
		if m.tools, err = tools.texts(); err != nil {
			return m, err
		}
	}
	if hasWhen {
		source, err := when.text()
		if err != nil {
			return m, err
		}
		m.when = permission.Expr(source)
		if err := m.when.(interface{ Check() error }).Check(); err != nil {
			return m, when.errorf("%w", err)
		}
	}
	for _, p := range d.points {
		if hasCall(p) {
			continue
		}
		if hasTools {
			return m, tools.errorf("the payload of %s has no tool call, so that tools cannot select any", p.Name)
		}
		if hasWhen {
			return m, when.errorf("the payload of %s has no tool call, so that when cannot select any", p.Name)
		}
	}
	return m, nil
}

// hasCall reports whether every payload of the point, which is a struct, is a tool call or has one in its field Call.
func hasCall(p hookkit.AnyPoint) bool {
	t := reflect.TypeOf(p.New()).Elem()
	call := reflect.TypeFor[agent.ToolCallRequest]()
	f, ok := t.FieldByName("Call")
	return t == call || ok && f.Type == call
}

// selects reports whether the hook is asked about a payload. If the expression fails, for example because an argument
// has an unexpected type, the hook is asked.
func (m matcher) selects(payload json.RawMessage) bool {
	if m.tools == nil && m.when == nil {
		return true
	}
	var outer struct {
		Call *agent.ToolCallRequest `json:"call"`
	}
	var call agent.ToolCallRequest
	if json.Unmarshal(payload, &outer) == nil && outer.Call != nil {
		call = *outer.Call
	} else if json.Unmarshal(payload, &call) != nil {
		return true
	}
	named := func(glob string) bool { return toolname.Wildcard(glob, call.Name) }
	if m.tools != nil && !slices.ContainsFunc(m.tools, named) {
		return false
	}
	if m.when == nil {
		return true
	}
	holds, err := m.when.Match(call)
	return holds || err != nil
}
