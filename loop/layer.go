package loop

import (
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/generated/agent"
)

// keptLayers bounds the cache of layers of an agent.
const keptLayers = 64

// Hooks returns new Hooks with hooks, for the literal of an agent: Hooks: loop.Hooks(&retry.Model{}). It panics if one
// is nil or invalid, as [agent.Hooks.Use] does.
func Hooks(hooks ...agent.Hook) *agent.Hooks {
	h := new(agent.Hooks)
	for _, hook := range hooks {
		h.Use(hook)
	}
	return h
}

// noHooks are those of an agent without hooks.
var noHooks = new(agent.Hooks)

// takeHooks sets the hooks that the run fires, the outermost first: those of the run that started it, Agent.Hooks and
// Request.Use. Hooks that the outer run fires already are not added again.
func (r *run) takeHooks(outer *run, use []agent.Hook) (err error) {
	a := r.agent
	switch {
	case outer == nil && a.Hooks == nil:
		r.hooks = noHooks
	case outer == nil:
		r.hooks = a.Hooks
	default:
		if r.hooks, r.ownHooks = outer.hooks, outer.ownHooks; a.Hooks != nil && !outer.fires(a.Hooks) {
			r.hooks = a.inside(r.hooks, !r.ownHooks)
		}
	}
	if len(use) > 0 {
		r.hooks, err = a.layer(r.hooks, use)
		r.ownHooks = true
	}
	if err == nil && a.Pinned {
		r.hooks, r.ownHooks = r.hooks.Pinned(), true
	}
	return err
}

// inside returns hooks that fire base and then those of the agent. If base outlives the run, the result is cached.
func (a *Agent) inside(base *agent.Hooks, outlives bool) *agent.Hooks {
	if !outlives {
		return base.Over(a.Hooks, "agent "+a.name())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if layer := a.layers[base]; layer != nil {
		return layer
	}
	if a.layers == nil || len(a.layers) >= keptLayers {
		a.layers = make(map[*agent.Hooks]*agent.Hooks)
	}
	a.layers[base] = base.Over(a.Hooks, "agent "+a.name())
	return a.layers[base]
}

// layer returns a new layer with the hooks of a request inside base.
func (a *Agent) layer(base *agent.Hooks, hooks []agent.Hook) (*agent.Hooks, error) {
	layer := base.Layer("run")
	for i, h := range hooks {
		if isNil(h) {
			return nil, fmt.Errorf("agent %q: Use[%d] is nil; remove it", a.name(), i)
		}
		if err := use(layer, h); err != nil {
			return nil, fmt.Errorf("agent %q: %w", a.name(), err)
		}
	}
	return layer, nil
}

// use binds a hook and converts a panic of the registration to an error.
func use(h *agent.Hooks, k agent.Hook) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the hook %T cannot be used: %v", k, v)
		}
	}()
	h.Use(k)
	return nil
}

// isNil reports whether an interface is nil or holds a nil pointer, function or map.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Interface:
		return r.IsNil()
	}
	return false
}
