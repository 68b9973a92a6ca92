package hookimpl

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// Hooks implements [hookkit.AnyPoint.Hooks].
func (r *Registry) Hooks() []hookkit.Info { return r.list(isHook) }

// Observers implements [hookkit.AnyPoint.Observers].
func (r *Registry) Observers() []hookkit.Info { return r.list(isObserver) }

func (r *Registry) list(k kind) (infos []hookkit.Info) {
	registering.Lock()
	defer registering.Unlock()
	layers := r.layers()
	for depth, l := range layers {
		for _, e := range l.entries {
			if e.kind == k {
				i := hookkit.Info{
					Name: e.Name, Site: e.Site, Priority: e.Priority, Layer: depth, LayerName: l.name, Timeout: e.Timeout,
					FailClosed: k == isHook && r.point.stops(e), Keys: slices.Clone(e.Keys.Values), Async: e.Queue,
				}
				i.Why = e.why(i, layers)
				infos = append(infos, i)
			}
		}
	}
	if k == isHook && r.point.Reverse {
		slices.Reverse(infos)
	}
	return infos
}

// why gives the reasons for the position of the entry.
func (e *entry) why(i hookkit.Info, layers []layer) string {
	named := func(what string, n int, name string) string {
		if name != "" {
			name = " (" + name + ")"
		}
		return fmt.Sprint(what, " ", n, name)
	}
	tier := tiers[e.Priority]
	if !e.Ranked {
		tier = "default"
	}
	words := []string{named("priority", e.Priority, tier), named("layer", i.Layer, i.LayerName)}
	for _, a := range e.anchors {
		to := e.now(a)
		isThere := func(other *entry) bool { return other.kind != isTracer && other.isAt(to) }
		if !slices.ContainsFunc(layers, func(l layer) bool { return slices.ContainsFunc(l.entries, isThere) }) {
			continue // removed, or without a hook at the point
		}
		words = append(words, fmt.Sprint(a, " ", to.holder.name))
	}
	if e.Keys.Name != "" {
		words = append(words, keysInWords(e.Keys))
	}
	if i.Timeout > 0 {
		words = append(words, "timeout "+i.Timeout.String())
	}
	if e.FailClosed {
		words = append(words, "fail closed")
	}
	if i.Async > 0 {
		words = append(words, fmt.Sprintf("async, queue %d", i.Async))
	}
	return strings.Join(words, ", ") + ", from " + i.Site
}

// tiers names the priorities that have a name.
var tiers = map[int]string{
	hookkit.Safety:        "Safety",
	hookkit.InputShape:    "InputShape",
	hookkit.Detection:     "Detection",
	hookkit.Mutation:      "Mutation",
	hookkit.Observability: "Observability",
}

// Explain writes every point, and under it its hooks in firing order with the reasons for their position.
func Explain(w io.Writer, points []hookkit.AnyPoint) error {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%s(%s): %s\n", p.Name, p.Payload, cmp.Or(p.Results, "observe"))
		hooks, observers := p.Hooks(), p.Observers()
		if len(hooks)+len(observers) == 0 {
			b.WriteString("      nothing\n")
		}
		for i, h := range hooks {
			fmt.Fprintf(&b, "  %2d. %s  %s\n", i+1, h.Name, h.Why)
		}
		for _, o := range observers {
			fmt.Fprintf(&b, "   o  %s  %s\n", o.Name, o.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
