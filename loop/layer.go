package loop

import (
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/generated/agent"
)

// keptLayers bounds the cache of layers of an agent.
const keptLayers = 64

// layerOn returns the hooks that the agent's runs fire: a layer with the hooks in Use inside base. The layer is
// cached for each base, so that a hook in Use is bound once for it, unless base belongs to one run only.
func (a *Agent) layerOn(base *agent.Hooks, ofOneRun bool) (*agent.Hooks, error) {
	if base != nil && len(a.Use) == 0 {
		return base, nil
	}
	if ofOneRun {
		return a.layer(base, "agent "+a.name(), a.Use)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if layer := a.layers[base]; layer != nil {
		return layer, nil
	}
	layer, err := a.layer(base, "agent "+a.name(), a.Use)
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
