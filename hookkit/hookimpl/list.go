package hookimpl

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// Hooks implements [hookkit.AnyPoint.Hooks].
func (r *Registry) Hooks() []hookkit.Info {
	infos := r.list(func(layer *Registry) *ordering { return &layer.hooks })
	if r.point.Reverse {
		slices.Reverse(infos)
	}
	return infos
}

// Observers implements [hookkit.AnyPoint.Observers].
func (r *Registry) Observers() []hookkit.Info {
	return r.list(func(layer *Registry) *ordering { return &layer.observers })
}

func (r *Registry) list(of func(*Registry) *ordering) []hookkit.Info {
	layers := r.layers()
	defer lock(layers)()
	var infos []hookkit.Info
	for depth, layer := range layers {
		entries, name := of(layer), r.nameOf(layer)
		for _, e := range entries.inOrder() {
			i := e.info(layers, depth, name)
			i.FailClosed = entries == &layer.hooks && layer.point.stops(e)
			infos = append(infos, i)
		}
	}
	return infos
}

// info describes the entry in the layer of that depth and name; layers are those that fire together.
func (e *entry) info(layers []*Registry, depth int, name string) hookkit.Info {
	i := hookkit.Info{
		Name: e.name, Site: e.site, Priority: e.priority, Layer: depth, LayerName: name,
		Timeout: e.timeout,
	}
	if e.keys.Name != "" {
		i.Keys = slices.Clone(e.keys.Values)
	}
	if e.queue != nil {
		i.Async = e.queue.size
	}
	i.Why = e.why(i, layers)
	return i
}

// why gives the reasons for the position of the entry.
func (e *entry) why(i hookkit.Info, layers []*Registry) string {
	words := []string{fmt.Sprintf("priority %d", e.priority)}
	if t := tiers[e.priority]; !e.ranked {
		words[0] += " (default)"
	} else if t != "" {
		words[0] += " (" + t + ")"
	}
	layer := fmt.Sprintf("layer %d", i.Layer)
	if i.LayerName != "" {
		layer += " (" + i.LayerName + ")"
	}
	words = append(words, layer)
	for _, a := range e.anchors {
		to := a.target().place
		if !slices.ContainsFunc(layers, func(layer *Registry) bool { return layer.has(to) }) {
			continue // removed, or without a hook at the point
		}
		word := "before "
		if a.after {
			word = "after "
		}
		words = append(words, word+to.holder.Load().name)
	}
	if e.keys.Name != "" {
		words = append(words, keysInWords(e.keys))
	}
	if i.Timeout > 0 {
		words = append(words, "timeout "+i.Timeout.String())
	}
	if e.failClosed {
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
		results := p.Results
		if results == "" {
			results = "observe"
		}
		fmt.Fprintf(&b, "%s(%s): %s\n", p.Name, p.Payload, results)
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
