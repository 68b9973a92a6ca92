package hookkit

import (
	"fmt"
	"slices"
	"strings"
)

// layers returns the states of all layers, the outermost first.
func (r *registry) layers() []*state {
	var all []*state
	for at := r; at != nil; at = at.above {
		if s := at.state.Load(); s != nil {
			all = append(all, s)
		}
	}
	slices.Reverse(all)
	return all
}

// list returns the hooks in firing order.
func (r *registry) list() []Info {
	changes.Lock()
	defer changes.Unlock()
	var infos []Info
	layers := r.layers()
	for _, s := range layers {
		for _, e := range s.hooks {
			infos = append(infos, e.info(r.point, layers))
		}
	}
	if r.point.Law&Reversed != 0 {
		slices.Reverse(infos)
	}
	return infos
}

// listObservers returns the observers in the order in which they are told.
func (r *registry) listObservers() []Info {
	changes.Lock()
	defer changes.Unlock()
	var infos []Info
	layers := r.layers()
	for _, s := range layers {
		for _, e := range s.observers {
			infos = append(infos, e.info(r.point, layers))
		}
	}
	return infos
}

// has reports whether something of the registration is still there.
func (s *state) has(r *Registration) bool {
	of := func(e *entry) bool { return e.belongsTo(r) }
	return s != nil && (slices.ContainsFunc(s.hooks, of) || slices.ContainsFunc(s.observers, of))
}

func (e *entry) info(p Point, layers []*state) Info {
	i := Info{
		Name: e.name, Site: e.site, Priority: e.priority, Layer: e.layer,
		Timeout: e.timeout, Once: e.once, When: e.when,
		FailClosed: p.Law.stops(e),
	}
	if e.queue != nil {
		i.Async = e.queue.size
	}
	i.Why = i.why(e.anchors, layers)
	return i
}

func (i Info) why(anchors []anchor, layers []*state) string {
	words := []string{fmt.Sprintf("priority %d", i.Priority)}
	if t := tier(i.Priority); t != "" {
		words[0] += " (" + t + ")"
	}
	words = append(words, fmt.Sprintf("layer %d", i.Layer))
	for _, a := range anchors {
		if !slices.ContainsFunc(layers, func(s *state) bool { return s.has(a.reg) }) {
			continue // removed, or without a hook at the point, and so void
		}
		word := "before "
		if a.after {
			word = "after "
		}
		words = append(words, word+a.reg.name)
	}
	if i.When != "" {
		words = append(words, "when "+i.When)
	}
	if i.Timeout > 0 {
		words = append(words, "time-out "+i.Timeout.String())
	}
	if i.Once {
		words = append(words, "once")
	}
	if i.Async > 0 {
		words = append(words, fmt.Sprintf("async, queue %d", i.Async))
	}
	return strings.Join(words, ", ") + ", from " + i.Site
}

func tier(priority int) string {
	switch priority {
	case Safety:
		return "Safety"
	case InputShape:
		return "InputShape"
	case Detection:
		return "Detection"
	case Mutation:
		return "Mutation"
	case Observability:
		return "Observability"
	}
	return ""
}
