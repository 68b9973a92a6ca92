package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// An Index is an index of a record. Make one with [Open], and call [Index.Update] to read the record. Its methods may
// be called concurrently.
//
// Events and runs have numbers, from 0 in the order of the record. They stay valid until the generation changes, see
// [Status].
type Index struct {
	// Name is the field that names a run; zero for none. Set it before the first Update.
	Name Field

	path string

	updating sync.Mutex // held by Update; guards the reader
	reader   reader

	mu        sync.RWMutex // guards the rest
	files     []*file      // the oldest first
	reading   int          // the number of files that were read to their ends
	rotations int          // since the record was opened
	events    entries
	runs      list[run]
	children  map[int32][]int32 // of the runs that have some, in the order of attached
	byID      map[string]int32
	waiting   map[string][]int32 // runs by the ID of their parent, which has no event yet
	specs     names
	points    names
	hooks     names
	choices   names // decisions
	outcomes  names
	tenants   names
	numbers   numbers.Numbers
	problems  problems
	status    Status
	named     bool          // a run has a name
	changed   chan struct{} // closed at the next change
}

// Open opens a record, and the older files that hooklog.Rotate keeps of it: PATH.1 and so on. It reads nothing: call
// [Index.Update].
func Open(path string) (*Index, error) {
	x := &Index{path: path, changed: make(chan struct{})}
	x.status.Generation = time.Now().UnixMicro()
	x.clear()
	_, err := statRegular(path)
	if err == nil {
		x.files, err = openFiles(path)
	}
	return x, err
}

// statRegular returns an error unless a file is a regular one. Opening a named pipe would wait for its writer.
func statRegular(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file: pass what it contains through a pipe, with - as the name", path)
	}
	return info, err
}

// clear forgets all events.
func (x *Index) clear() {
	x.events, x.runs, x.numbers = entries{}, list[run]{}, numbers.Numbers{}
	x.children, x.byID, x.waiting = map[int32][]int32{}, map[string]int32{}, map[string][]int32{}
	x.specs, x.points, x.hooks, x.choices = names{}, names{}, names{}, names{}
	x.outcomes, x.tenants, x.named = names{}, names{}, false
	for _, n := range []*names{&x.hooks, &x.outcomes, &x.tenants} {
		n.number("") // 0: no hook decided; no outcome, no tenant
	}
}

// Close closes the files. The caller must not use the index any more.
func (x *Index) Close() error {
	x.updating.Lock()
	defer x.updating.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	for _, f := range x.files {
		err = errors.Join(err, f.close())
	}
	x.files = nil
	return err
}

// add appends an event. The caller holds mu.
func (x *Index) add(event hooklog.Event, e entry) {
	n := uint32(x.events.count)
	e.run = x.runOf(event, n)
	e.point, e.by, e.choice = x.points.number(event.Point), x.hooks.number(event.By), x.choices.number(event.Decision)
	for _, use := range []struct {
		names  *names
		number int32
	}{{&x.points, e.point}, {&x.hooks, e.by}, {&x.choices, e.choice}} {
		use.names.counts[use.number]++
	}
	e.fails = len(event.Failures) > 0 || event.Error != ""
	e.alters = event.Final != nil
	e.decided = e.fails || e.alters || event.Collected != nil || event.Decision != wire.Continue
	switch event.Decision {
	case wire.Continue, wire.Replace, wire.Edit:
	default:
		e.exits = true
	}
	e.slow = event.Elapsed >= SlowHooks
	r := x.run(e.run)
	e.spoken = r.speaks(event, e)
	x.events.add(e)
	x.numbers.Add(event)
	x.learn(r, event, n, e)
	r.events = append(r.events, n)
	r.own.add(e)
	end := event.Time.Add(max(0, event.Elapsed))
	if end.Year() > maxYear {
		end = event.Time
	}
	if event.Time.Before(r.start) {
		r.start = event.Time
	}
	if end.After(r.end) {
		r.end = end
	}
	for i := e.run; i >= 0; i = x.run(i).parent {
		x.run(i).all.add(e)
	}
}

// maxYear is the last year that JSON can have in a time. An event at its end with a long duration ends after it.
const maxYear = 9999
