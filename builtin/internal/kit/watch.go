package kit

import (
	"context"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A Watch registers a hook that names tools, and looks at the tools of each run once. With [Watch.AtStart] it looks
// after OnRunStart, whose hooks may add tools. But a hook with a registration at OnRunStart cannot be narrowed:
//
//	hooks.Use(&permission.Confirm{Tools: []string{"*"}}, agent.ForTool("bash"))
//
// would panic, because OnRunStart has no key. So a hook whose points all have the key is registered by the other
// methods, and looks when it is called for the first time in a run, before its decision.
type Watch struct {
	hook  string
	names []ToolName
	see   func(context.Context, *agent.Env)
	keys  []hookkit.KeyOption
	runs  hookkit.PerRun[bool] // whether it has looked

	reported Seen // agents with positions of names
}

// NewWatch returns a Watch that calls see once for each run whose environment has tools. The hook is the name of the
// registrations.
func NewWatch(hook string, see func(context.Context, *agent.Env)) *Watch {
	return &Watch{hook: hook, see: see}
}

// Only registers the hook for the named tools alone, because it does nothing about others. Then it costs nothing in
// calls of others, and the loop reports the names that no tool has. With a pattern among the names, it is registered
// for all tools.
func (w *Watch) Only() *Watch {
	var exact []string
	for _, n := range w.names {
		if n.Match != nil || !n.Exact && strings.Contains(n.Name, "*") {
			return w
		}
		exact = append(exact, n.Name)
	}
	return &Watch{hook: w.hook, keys: []hookkit.KeyOption{agent.ForTool(exact...)}}
}

// AtStart looks at the start of each run, for a hook that is also at points without a key.
func (w *Watch) AtStart(h *agent.Hooks) {
	if len(w.names) > 0 {
		h.OnRunStart.ObserveFunc(func(ctx context.Context, run *agent.Run, _ agent.OnRunStartFired[agent.RunStart]) {
			w.look(ctx, run)
		}, hookkit.Named(w.hook))
	}
}

func (w *Watch) look(ctx context.Context, run *agent.Run) {
	env := Env(run)
	if w.see == nil || env == nil || env.Tools == nil {
		return
	}
	looked := false
	w.runs.Do(run, func(at *bool) { looked, *at = *at, true })
	if !looked {
		// A table of tools that panics is no reason to fail a call: hooks without names do not read it.
		_, _ = Recover(func() (none struct{}, err error) { w.see(ctx, env); return })
	}
}

// looking returns a method of a hook that looks first, if there is something to look for.
func looking[P, O any](
	w *Watch, hook func(context.Context, *agent.Run, P) (O, error),
) func(context.Context, *agent.Run, P) (O, error) {
	if w.see == nil {
		return hook
	}
	return func(ctx context.Context, run *agent.Run, payload P) (O, error) {
		w.look(ctx, run)
		return hook(ctx, run, payload)
	}
}

// BeforeTool adds the hook at BeforeTool.
func (w *Watch) BeforeTool(h *agent.Hooks, hook agent.BeforeTool[agent.ToolCallRequest], opts ...hookkit.GateOption) {
	h.BeforeTool.AddFunc(looking(w, hook.BeforeTool), options(w, opts)...)
}

// OnPermission adds the hook at OnPermission.
func (w *Watch) OnPermission(
	h *agent.Hooks, hook agent.OnPermission[agent.ToolCallRequest], opts ...hookkit.GateOption,
) {
	h.OnPermission.AddFunc(looking(w, hook.OnPermission), options(w, opts)...)
}

// AroundTool adds the hook at AroundTool.
func (w *Watch) AroundTool(h *agent.Hooks, hook agent.AroundTool[agent.ToolCallRequest], opts ...hookkit.HookOption) {
	h.AroundTool.AddFunc(func(
		ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		w.look(ctx, run)
		return hook.AroundTool(ctx, run, call, next)
	}, options(w, opts)...)
}

// AfterTool adds the hook at AfterTool.
func (w *Watch) AfterTool(h *agent.Hooks, hook agent.AfterTool[agent.ToolCallResult], opts ...hookkit.GateOption) {
	h.AfterTool.AddFunc(looking(w, hook.AfterTool), options(w, opts)...)
}

// options returns the options of a registration, with the name of the hook and its tools.
func options[O any](w *Watch, opts []O) []O {
	opts = append(slices.Clip(opts), any(hookkit.Named(w.hook)).(O))
	for _, key := range w.keys {
		opts = append(opts, any(key).(O))
	}
	return opts
}
