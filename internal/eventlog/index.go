package eventlog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/internal/rotated"
)

// An Index is an index of a record. Make one with [Open] or [OpenFile], and call [Index.Update] to read the record. Its
// methods may be called concurrently.
//
// Events and runs have numbers, from 0 in the order of the record. They stay valid until the generation changes, see
// [Status].
type Index struct {
	path string // "" if the file cannot be replaced, because only this process has its name

	updating sync.Mutex // held by Update; guards the reader
	reader   reader

	mu        sync.RWMutex // guards the rest
	files     []file       // the oldest first
	reading   int          // the number of files that were read to their ends
	rotations int          // since the record was opened
	events    []entry
	runs      []run
	byID      map[string]int32
	waiting   map[string][]int32 // runs by the ID of their parent, which has no event yet
	points    names
	hooks     names
	choices   names // decisions
	problems  problems
	status    Status
	changed   chan struct{} // closed at the next change
}

// An entry has the place and the kind of an event.
type entry struct {
	offset                     int64
	length, line               uint32
	run, point, by, choice     int32
	file                       uint16
	exits, fails, alters, gave bool
}

// A run has the events and the counts of a run.
type run struct {
	id         string
	parentID   string
	spec       string // of its first event
	start, end time.Time
	lastSeq    int64
	lastTime   time.Time
	parent     int32 // -1 for none
	depth      int32
	attached   uint32   // the number of the event after which the parent was known
	events     []uint32 // its own
	children   []int32  // in the order of attached
	own, all   Counts   // all includes the runs below it
}

// A file is one of the files of a record.
type file struct {
	*os.File
	name string // for people
}

// Counts are numbers of fires.
type Counts struct {
	Fires    int `json:"fires"`
	Exits    int `json:"exits"`    // that ended with an exit
	Failures int `json:"failures"` // in which a hook failed, or that returned an error
}

func (c *Counts) add(e entry) {
	c.Fires++
	if e.exits {
		c.Exits++
	}
	if e.fails {
		c.Failures++
	}
}

func (c *Counts) addAll(o Counts) {
	c.Fires, c.Exits, c.Failures = c.Fires+o.Fires, c.Exits+o.Exits, c.Failures+o.Failures
}

// maxDepth bounds the nesting of runs. A run that is nested deeper is listed as one without a parent.
const maxDepth = 64

// Open opens a record, and the older files that wire.Rotate keeps of it: PATH.1 and so on. It reads nothing: call
// [Index.Update].
func Open(path string) (*Index, error) {
	x := &Index{path: path, changed: make(chan struct{})}
	x.status.Generation = 1
	x.clear()
	info, err := os.Stat(path)
	if err == nil {
		err = mustBeRegular(path, info)
	}
	if err != nil {
		return nil, err
	}
	files, err := rotated.Open(path)
	if err != nil {
		return nil, err
	}
	older := max(0, len(files)-maxFiles)
	rotated.Close(files[:older])
	if older > 0 {
		x.problems.add(Problem{File: filepath.Base(path), Text: fmt.Sprintf("it has %d files, and the oldest %d of them "+
			"are not shown", len(files), older)})
	}
	for _, f := range files[older:] {
		x.files = append(x.files, file{f.File, filepath.Base(f.Name())})
	}
	return x, nil
}

// mustBeRegular returns an error unless a file is a regular one. Opening a named pipe would wait for its writer.
func mustBeRegular(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a regular file: pass what it contains through a pipe, with - as the name", path)
	}
	return nil
}

// OpenFile returns an index of a file that no other program can rename, under a name for people. Close closes the file.
func OpenFile(f *os.File, name string) *Index {
	x := &Index{changed: make(chan struct{}), files: []file{{f, name}}}
	x.status.Generation = 1
	x.clear()
	return x
}

// clear forgets all events.
func (x *Index) clear() {
	x.events, x.runs = nil, nil
	x.byID, x.waiting = map[string]int32{}, map[string][]int32{}
	x.points, x.hooks, x.choices = names{}, names{}, names{}
	x.hooks.number("") // 0: no hook decided
}

// Close closes the files. The caller must not use the index any more.
func (x *Index) Close() error {
	x.updating.Lock()
	defer x.updating.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	var err error
	for _, f := range x.files {
		err = errors.Join(err, f.Close())
	}
	x.files = nil
	return err
}

// add appends an event. The caller holds mu.
func (x *Index) add(h *header, e entry) {
	n := uint32(len(x.events))
	e.run = x.runOf(h, n)
	e.point, e.by, e.choice = x.points.number(h.Point), x.hooks.number(h.By), x.choices.number(h.Decision)
	for _, use := range []struct {
		names  *names
		number int32
	}{{&x.points, e.point}, {&x.hooks, e.by}, {&x.choices, e.choice}} {
		use.names.counts[use.number]++
	}
	e.fails = len(h.Failures) > 0 || h.Error != ""
	e.alters = bool(h.Final)
	e.gave = bool(h.Collected)
	switch h.Decision {
	case wire.Continue, wire.Replace, wire.Edit:
	default:
		e.exits = true
	}
	x.events = append(x.events, e)

	r := &x.runs[e.run]
	r.events = append(r.events, n)
	r.own.add(e)
	// Of two concurrent fires, the first one to be numbered may be the second one to be written. In a run that another
	// process continues only the numbers begin again.
	if h.Run.ID != "" && h.Seq <= r.lastSeq && h.Time.Before(r.lastTime) {
		x.problems.add(Problem{File: x.files[e.file].name, Line: int(e.line), Shown: true,
			Text: fmt.Sprintf("event %d is out of order: event %d of the same run is before it", h.Seq, r.lastSeq)})
	} else {
		r.lastSeq, r.lastTime = h.Seq, h.Time
	}
	end := h.Time.Add(max(0, h.Elapsed))
	if end.Year() > maxYear {
		end = h.Time
	}
	if h.Time.Before(r.start) {
		r.start = h.Time
	}
	if end.After(r.end) {
		r.end = end
	}
	for i := e.run; i >= 0; i = x.runs[i].parent {
		x.runs[i].all.add(e)
	}
}

// maxYear is the last year that JSON can have in a time. An event at its end with a long duration ends after it.
const maxYear = 9999

// runOf returns the number of the run of event n.
func (x *Index) runOf(h *header, n uint32) int32 {
	if i, ok := x.byID[h.Run.ID]; ok {
		return i
	}
	i := int32(len(x.runs))
	x.byID[h.Run.ID] = i
	x.runs = append(x.runs, run{
		id: h.Run.ID, parentID: h.Run.Parent, spec: h.Spec, start: h.Time, end: h.Time, parent: -1,
	})
	if parent := h.Run.Parent; parent != "" {
		if p, ok := x.byID[parent]; ok {
			x.attach(p, i, n)
		} else {
			x.waiting[parent] = append(x.waiting[parent], i)
		}
	}
	for _, child := range x.waiting[h.Run.ID] {
		x.attach(i, child, n)
	}
	delete(x.waiting, h.Run.ID)
	return i
}

// attach makes a run a child of another one, unless they would form a circle or a chain that is too long.
func (x *Index) attach(parent, child int32, n uint32) {
	if h := x.height(child, maxDepth); x.runs[parent].depth+h >= maxDepth {
		return
	}
	for p := parent; p >= 0; p = x.runs[p].parent {
		if p == child {
			return
		}
	}
	c := &x.runs[child]
	c.parent, c.attached = parent, n
	x.runs[parent].children = append(x.runs[parent].children, child)
	x.setDepth(child, x.runs[parent].depth+1)
	for p := parent; p >= 0; p = x.runs[p].parent {
		x.runs[p].all.addAll(c.all)
	}
}

// height returns how many generations a run and its children are, at most most.
func (x *Index) height(i int32, most int32) int32 {
	if most == 0 {
		return 0
	}
	highest := int32(0)
	for _, c := range x.runs[i].children {
		highest = max(highest, x.height(c, most-1))
	}
	return highest + 1
}

func (x *Index) setDepth(i, depth int32) {
	x.runs[i].depth = depth
	for _, c := range x.runs[i].children {
		x.setDepth(c, depth+1)
	}
}

// names numbers texts.
type names struct {
	numbers map[string]int32
	texts   []string
	counts  []int
}

func (s *names) number(text string) int32 {
	if n, ok := s.numbers[text]; ok {
		return n
	}
	if s.numbers == nil {
		s.numbers = map[string]int32{}
	}
	n := int32(len(s.texts))
	s.numbers[text] = n
	s.texts = append(s.texts, text)
	s.counts = append(s.counts, 0)
	return n
}

// A Name is a name in the record and how many events have it.
type Name struct {
	Name  string `json:"name"`
	Fires int    `json:"fires"`
}

// list returns the most frequent names, at most most, in alphabetical order.
func (s *names) list(most int) []Name {
	all := []Name{}
	for i, text := range s.texts {
		if text != "" {
			all = append(all, Name{text, s.counts[i]})
		}
	}
	slices.SortFunc(all, func(a, b Name) int { return cmp.Compare(b.Fires, a.Fires) })
	all = all[:min(len(all), most)]
	slices.SortFunc(all, func(a, b Name) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// A header is a wire.Event whose payloads were skipped. It is decoded with the checks of wire.ReadLog.
type header struct {
	Protocol  int            `json:"protocol"`
	Seq       int64          `json:"seq"`
	Time      time.Time      `json:"time"`
	Spec      string         `json:"spec"`
	Point     string         `json:"point"`
	Run       wire.RunInfo   `json:"run"`
	Payload   present        `json:"payload"`
	Final     present        `json:"final"`
	Decision  string         `json:"decision"`
	Value     present        `json:"value"`
	By        string         `json:"by"`
	Site      string         `json:"site"`
	Reason    string         `json:"reason"`
	Error     string         `json:"error"`
	Ballots   []ballot       `json:"ballots"`
	Collected present        `json:"collected"`
	Failures  []wire.Failure `json:"failures"`
	Elapsed   time.Duration  `json:"elapsed"`
}

// A ballot is a wire.Ballot whose value was skipped.
type ballot struct {
	By       string  `json:"by"`
	Site     string  `json:"site"`
	Decision string  `json:"decision"`
	Reason   string  `json:"reason"`
	Value    present `json:"value"`
}

// present reports whether a value was given. Decoding one copies nothing.
type present bool

// UnmarshalJSON implements json.Unmarshaler.
func (p *present) UnmarshalJSON([]byte) error { *p = true; return nil }

// readHeader reads the header of the event in a line.
func readHeader(line []byte) (h header, err error) {
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("it is not an event: %w", err)
	}
	switch {
	case h.Protocol == 0 || h.Spec == "" || h.Point == "" || h.Decision == "" || !bool(h.Payload):
		return h, errors.New("it is not an event: protocol, spec, point, payload and decision are mandatory")
	case h.Protocol != wire.Protocol:
		return h, fmt.Errorf("it was written by version %d of the protocol, and this program has version %d; "+
			"read it with the version of hookgen that wrote it", h.Protocol, wire.Protocol)
	}
	for _, name := range []string{h.Spec, h.Point, h.Run.ID, h.Run.Parent, h.Decision, h.By} {
		if len(name) > maxName {
			return h, fmt.Errorf("it has a name of %d bytes, more than %d", len(name), maxName)
		}
	}
	return h, nil
}

// maxName bounds the length of the names that the index keeps, in bytes.
const maxName = 4096
