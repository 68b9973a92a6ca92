package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A filter selects the events that show prints; each flag of show sets a field. The zero filter matches every event.
type filter struct {
	run       string // the beginning of the ID of a run or of one above it
	points    names
	hook      string // a part of its name
	decisions names
	failed    bool
	since     moment
	until     moment

	subRuns map[uint64]bool // the hashes of the IDs of sub-runs that match
}

// define adds the flags of the filter.
func (f *filter) define(flags *flag.FlagSet) {
	flags.StringVar(&f.run, "run", "", "")
	flags.Var(&f.points, "point", "")
	flags.StringVar(&f.hook, "hook", "", "")
	flags.Var(&f.decisions, "decision", "")
	flags.BoolVar(&f.failed, "failed", false, "")
	flags.Var(&f.since, "since", "")
	flags.Var(&f.until, "until", "")
}

// match reports whether the flags ask for an event.
func (f *filter) match(e hooklog.Event) bool {
	point, decision := f.points.match(e.Point), f.decisions.match(e.Decision)
	return f.matchRun(e.Run) &&
		point && decision &&
		(f.hook == "" || slices.ContainsFunc(hooksOf(e), func(name string) bool { return containsFold(name, f.hook) })) &&
		(!f.failed || len(e.Failures) > 0 || e.Error != "") &&
		(!f.since.given || !e.Time.Before(f.since.time)) &&
		(!f.until.given || e.Time.Before(f.until.time))
}

var hashSeed = maphash.MakeSeed()

// maxSubRuns is how many sub-runs a filter remembers. Without a bound, a record could fill the memory.
const maxSubRuns = 1 << 16

func (f *filter) matchRun(run wire.RunInfo) bool {
	if hasPrefix(run.ID, f.run) {
		return true
	}
	id := maphash.String(hashSeed, run.ID)
	match := hasPrefix(run.Root, f.run) || hasPrefix(run.Parent, f.run) ||
		f.subRuns[id] || f.subRuns[maphash.String(hashSeed, run.Parent)]
	if match && len(f.subRuns) < maxSubRuns {
		if f.subRuns == nil {
			f.subRuns = map[uint64]bool{}
		}
		f.subRuns[id] = true
	}
	return match
}

// hooksOf returns the names of the hooks that an event mentions.
func hooksOf(e hooklog.Event) []string {
	names := []string{e.By}
	for _, b := range e.Ballots {
		names = append(names, b.By)
	}
	for _, f := range e.Failures {
		names = append(names, f.By)
	}
	return names
}

// hasPrefix reports whether an ID begins with a prefix. IDs are hexadecimal, so the case does not matter.
func hasPrefix(id, prefix string) bool {
	return len(id) >= len(prefix) && strings.EqualFold(id[:len(prefix)], prefix)
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// names are the value of a flag with names between commas. Without a name, every event matches.
type names struct {
	wanted []string
	met    map[string]bool // names in the record, to correct a misspelled one
}

// maxMet bounds the names that are remembered, which come from the record.
const maxMet = 1000

func (n *names) String() string { return strings.Join(n.wanted, ",") }

// Set adds names, so that the flag may also be repeated.
func (n *names) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return errors.New("a name is empty")
		}
		n.wanted = append(n.wanted, name)
	}
	return nil
}

// match reports whether the flag asks for the name of an event.
func (n *names) match(name string) bool {
	if n.wanted == nil {
		return true
	}
	if !n.met[name] && len(n.met) < maxMet {
		if n.met == nil {
			n.met = map[string]bool{}
		}
		n.met[strings.Clone(numbers.Clip(name))] = true
	}
	return slices.ContainsFunc(n.wanted, func(s string) bool { return strings.EqualFold(s, name) })
}

// unknown returns a note for each name that no event has. It proposes similar names, or lists the names in the record.
func (n *names) unknown(what string) []string {
	const most = 10
	met := slices.Sorted(maps.Keys(n.met))
	var notes []string
	for _, name := range n.wanted {
		if len(met) == 0 || slices.ContainsFunc(met, func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		note := fmt.Sprintf("no event has the %s %s", what, quoted(name, mostName))
		if meant := spelling.Suggest(name, met); meant != "" {
			notes = append(notes, note+": did you mean "+visible(meant, mostName)+"?")
			continue
		}
		var known []string
		for _, other := range met[:min(len(met), most)] {
			known = append(known, visible(other, mostName))
		}
		if len(met) > most {
			known = append(known, plural(len(met)-most, "other"))
		}
		notes = append(notes, note+"; there is "+strings.Join(known, ", "))
	}
	return notes
}

// A moment is a flag with a time.
type moment struct {
	time  time.Time
	given bool // a record can have any time, also the zero one
}

func (m *moment) String() string { return "" }

// Set reads a time, or a duration before now.
func (m *moment) Set(text string) error {
	now := time.Now()
	m.given = true
	if ago, err := time.ParseDuration(text); err == nil {
		m.time = now.Add(-ago)
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			m.time = t
			return nil
		}
	}
	if t, err := time.ParseInLocation("15:04", text, time.Local); err == nil {
		m.time = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, time.Local)
		return nil
	}
	return errors.New(`give a time such as 2006-01-02T15:04:05Z, "2006-01-02 15:04" or 15:04, or a duration such as 90m`)
}
