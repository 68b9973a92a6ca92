package loop

import (
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/generated/agent"
)

// keptLayers bounds the cache of layers of an agent.
const keptLayers = 64

// takeHooks sets the hooks that the run fires, the outermost first: those of the run that started it, Agent.Hooks,
// Agent.Use and Request.Use. Hooks that the outer run fires already are not added again.
func (r *run) takeHooks(outer *run, use []agent.Hook) (err error) {
	a := r.agent
	base, own := a.Hooks, (*agent.Hooks)(nil)
	if outer != nil {
		base, r.ownHooks = outer.hooks, outer.ownHooks
		if !outer.fires(a.Hooks) {
			own = a.Hooks
		}
	}
	switch {
	case outer.runs(a), base != nil && own == nil && len(a.Use) == 0:
		r.hooks = base
	case r.ownHooks:
		r.hooks, err = a.inside(base, own)
	default:
		r.hooks, err = a.cachedInside(base, own)
	}
	if err == nil && len(use) > 0 {
		r.hooks, err = a.layer(r.hooks, "run", use)
		r.ownHooks = true
	}
	if err == nil && a.Pinned {
		r.hooks, r.ownHooks = r.hooks.Pinned(), true
	}
	return err
}

// cachedInside is inside for a base that outlives the run. It caches the result for each base, so that a hook in Use is
// bound once for it.
func (a *Agent) cachedInside(base, own *agent.Hooks) (*agent.Hooks, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if layer := a.layers[base]; layer != nil {
		return layer, nil
	}
	layer, err := a.inside(base, own)
	if err != nil {
		return nil, err
	}
	if len(a.layers) >= keptLayers {
		clear(a.layers)
	}
	if a.layers == nil {
		a.layers = make(map[*agent.Hooks]*agent.Hooks)
	}
	a.layers[base] = layer
	return layer, nil
}

// inside returns hooks that fire base, then own, then the agent's Use. base and own may be nil.
func (a *Agent) inside(base, own *agent.Hooks) (*agent.Hooks, error) {
	if own != nil {
		base = base.Over(own, "agent "+a.name())
	}
	if base != nil && len(a.Use) == 0 {
		return base, nil
	}
	return a.layer(base, "agent "+a.name(), a.Use)
}

// layer returns a new layer with hooks inside base, which may be nil.
func (a *Agent) layer(base *agent.Hooks, name string, hooks []agent.Hook) (*agent.Hooks, error) {
	layer := new(agent.Hooks)
	if base != nil {
		layer = base.Layer(name)
	}
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
