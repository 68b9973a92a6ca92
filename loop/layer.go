package loop

import (
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/generated/agent"
)

// keptLayers bounds the cache of layers of an agent.
const keptLayers = 64

// layerOn returns the hooks that the agent's runs fire: a layer with the hooks in Use inside base. The layer is
// cached for each base, so that a hook in Use is bound once for it.
func (a *Agent) layerOn(base *agent.Hooks) (*agent.Hooks, error) {
	if base != nil && len(a.Use) == 0 {
		return base, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if layer := a.layers[base]; layer != nil {
		return layer, nil
	}
	layer := new(agent.Hooks)
	if base != nil {
		layer = base.Layer("agent " + a.name())
	}
	for _, h := range a.Use {
		if err := use(layer, h); err != nil {
			return nil, fmt.Errorf("agent %q: %w", a.name(), err)
		}
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
