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

// A hooksError says that an agent cannot run inside another one, because it has Hooks of its own.
type hooksError struct{ outer, inner *Agent }

func (e *hooksError) Error() string {
	return fmt.Sprintf("agent %q: it can start the agent %q, whose Hooks are unrelated to its own and would not fire; "+
		"set Hooks of %[2]q to nil and put its hooks in Use", e.outer.name(), e.inner.name())
}

// checkHooks returns an error if the agent, or one that it can reach, has Hooks that a run under parent would not fire.
func (a *Agent) checkHooks(parent *run) error {
	start := a
	if parent != nil {
		start = parent.agent
	}
	for _, to := range a.reachable() {
		if to.Hooks != nil && !(parent == nil && to.Hooks == a.Hooks) && !parent.inherits(to.Hooks) {
			return &hooksError{start, to}
		}
	}
	return nil
}

// reachable returns the agent and those that its runs can start by sub-agents and handoffs, the nearest first.
func (a *Agent) reachable() []*Agent {
	all, known := []*Agent{a}, map[*Agent]bool{a: true}
	reach := func(to *Agent) {
		if to != nil && !known[to] {
			all, known[to] = append(all, to), true
		}
	}
	for i := 0; i < len(all); i++ {
		from := all[i]
		for _, tool := range from.Tools {
			if sub, ok := unwrapped(tool).(*subagent); ok && sub != nil {
				reach(sub.a)
			}
		}
		for _, to := range from.Handoffs {
			reach(to)
		}
	}
	return all
}

// fault makes the run and those that started it fail with an error of the program, if err is one. A tool could pass it
// on as a text for the model.
func (r *run) fault(err error) {
	if find[hooksError](err) == nil {
		return
	}
	for ; r != nil; r = r.outer {
		r.mu.Lock()
		if r.faulty == nil {
			r.faulty = err
		}
		r.mu.Unlock()
	}
}

// failFaulty fails the run if a fault was found in it.
func (r *run) failFaulty() {
	r.mu.Lock()
	err := r.faulty
	r.mu.Unlock()
	if err != nil && !r.state.over() {
		r.fail("Hooks", err)
	}
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
