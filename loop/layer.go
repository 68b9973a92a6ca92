package loop

import (
	"context"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A layer is the hooks that an agent fires: its own within those that it stands under.
type layer struct {
	hooks   *agent.Hooks
	witness *witness
}

// kept bounds how many sets of hooks an agent remembers its layer for.
const kept = 64

// layerOn returns the agent's layer on the hooks of the run that starts it, nil for none. It is made once for
// each set of hooks, so that a hook in Use is bound once for it.
func (a *Agent) layerOn(outer *layer) (*layer, error) {
	base := a.Hooks
	if outer != nil {
		base = outer.hooks
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.layers[base]; l != nil {
		return l, nil
	}
	l := &layer{hooks: new(agent.Hooks)}
	if base != nil {
		l.hooks = base.Layer()
	}
	if outer != nil {
		l.witness = outer.witness
	} else {
		l.witness = new(witness)
		l.witness.observe(l.hooks)
	}
	for _, h := range a.Use {
		if err := use(l.hooks, h); err != nil {
			return nil, fmt.Errorf("agent %q: %w", a.name(), err)
		}
	}
	if len(a.layers) >= kept {
		clear(a.layers)
	}
	if a.layers == nil {
		a.layers = make(map[*agent.Hooks]*layer)
	}
	a.layers[base] = l
	return l, nil
}

// use binds a hook and returns what registering it panicked with.
func use(h *agent.Hooks, k agent.Hook) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the hook %T cannot be used: %v", k, v)
		}
	}()
	h.Use(k)
	return nil
}

// isNil reports whether an interface holds nothing that could be called.
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

// A witness remembers, for each run, who decided at the last fire of the points that a run is ended,
// answered or refused at: a fire returns the outcome but not whose it is.
type witness struct {
	last hookkit.PerRun[hookkit.Verdict]
}

func (w *witness) saw(run *agent.Run, v hookkit.Verdict) {
	w.last.Do(run, func(last *hookkit.Verdict) { *last = v })
}

// by returns who decided at the run's last witnessed fire.
func (w *witness) by(run *agent.Run) (by string) {
	w.last.Do(run, func(last *hookkit.Verdict) { by = last.By })
	return by
}

func (w *witness) observe(h *agent.Hooks) {
	name := hookkit.Named("loop")
	h.OnRunStart.Observe(w, name)
	h.ShouldCompact.Observe(w, name)
	h.BeforeLLM.Observe(w, name)
	h.AfterLLM.Observe(w, name)
	h.BeforeTool.Observe(w, name)
	h.OnPermission.Observe(w, name)
	h.OnHandoff.Observe(w, name)
	h.AfterTool.Observe(w, name)
	h.OnRunError.Observe(w, name)
}

func (w *witness) ObserveOnRunStart(_ context.Context, run *agent.Run, f agent.OnRunStartFired[agent.RunStart]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveShouldCompact(_ context.Context, run *agent.Run, f agent.ShouldCompactFired[agent.ContextUse]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveBeforeLLM(_ context.Context, run *agent.Run, f agent.BeforeLLMFired[agent.LLMRequest]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveAfterLLM(_ context.Context, run *agent.Run, f agent.AfterLLMFired[agent.LLMResponse]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveBeforeTool(_ context.Context, run *agent.Run, f agent.BeforeToolFired[agent.ToolCallRequest]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveOnPermission(_ context.Context, run *agent.Run, f agent.OnPermissionFired[agent.ToolCallRequest]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveOnHandoff(_ context.Context, run *agent.Run, f agent.OnHandoffFired[agent.Handoff]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveAfterTool(_ context.Context, run *agent.Run, f agent.AfterToolFired[agent.ToolCallResult]) {
	w.saw(run, f.Verdict)
}

func (w *witness) ObserveOnRunError(_ context.Context, run *agent.Run, f agent.OnRunErrorFired[agent.RunError]) {
	w.saw(run, f.Verdict)
}
