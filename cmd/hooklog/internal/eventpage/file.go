package eventpage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
)

// fileData is the data of the page: the replies of a server to all requests. Of a page that asks a server it has Live,
// Name and Slow.
type fileData struct {
	Live      bool                 `json:"live"`
	Name      string               `json:"name"`
	Slow      time.Duration        `json:"slow"` // eventlog.SlowHooks
	Status    statusView           `json:"status"`
	Runs      []runView            `json:"runs"`      // without a parent, the newest first
	Pages     map[int]runPage      `json:"pages"`     // by the number of the run
	Timelines map[int]timelineView `json:"timelines"` // by the number of the run
	Fires     map[int]detailView   `json:"fires"`     // by the number of the event
	Numbers   *eventlog.Numbers    `json:"numbers"`   // null if not all runs are in the file
	Texts     map[string]string    `json:"texts"`     // whole texts that are cut in Fires, by "event/part"
}

// MaxData bounds the data in the file that [Write] writes, in bytes. A browser reads all of it before it shows
// anything.
const MaxData = 32 << 20

// ErrTooLarge says that a record does not fit into one file.
var ErrTooLarge = fmt.Errorf("the page is larger than %d MB", MaxData>>20)

// Write writes the page of a record under a name: of the runs with the given numbers, or of all runs without numbers.
// Runs that these started are included. It returns [ErrTooLarge], and writes nothing, if the page would be too large.
func Write(w io.Writer, x *eventlog.Index, name string, numbers ...int) error {
	v := &views{Index: x}
	d := fileData{
		Name: name, Slow: eventlog.SlowHooks, Status: v.status(), Runs: []runView{},
		Pages: map[int]runPage{}, Timelines: map[int]timelineView{}, Fires: map[int]detailView{}, Texts: map[string]string{},
	}
	d.Status.Generation = 0 // the same page for the same record
	var runs []eventlog.Run
	for _, n := range numbers {
		if r, _, ok := x.Run(n); ok {
			runs = append(runs, r)
		}
	}
	if len(numbers) == 0 {
		n := x.Numbers()
		d.Numbers = &n
		all := eventlog.Query{}
		runs, _ = x.FindRuns(context.Background(), all, eventlog.Newest, eventlog.Start, d.Status.Runs, time.Hour)
	}
	f := filler{views: v, d: &d}
	for _, r := range runs {
		view := v.run(r)
		d.Runs = append(d.Runs, view)
		if err := f.run(view, nil); err != nil {
			return err
		}
	}
	return writePage(w, policy(), d)
}

// A filler fills the data of a file.
type filler struct {
	*views
	d    *fileData
	size int // of the data, at least
}

// run adds a run, its fires and the runs that it started.
func (f *filler) run(r runView, above []runView) error {
	if _, ok := f.d.Pages[r.Number]; ok {
		return nil // it was named twice
	}
	page := runPage{r, append([]runView{}, above...)}
	if err := f.measure(page); err != nil {
		return err
	}
	f.d.Pages[r.Number] = page
	t := timelineView{Items: []itemView{}}
	from := 0
	for more := true; more; {
		part := f.timeline(r.Number, eventlog.Window{From: from, Most: many}, true)
		if more = part.More && len(part.Items) > 0; more {
			from = part.Items[len(part.Items)-1].At + 1
		}
		for _, i := range part.Items {
			t.Items = append(t.Items, i)
			var err error
			if i.Run != nil {
				err = f.run(*i.Run, append(above, r))
			} else if i.Fire != nil {
				err = f.fire(i.Fire.Event)
			}
			if err == nil {
				err = f.measure(i)
			}
			if err != nil {
				return err
			}
		}
	}
	f.d.Timelines[r.Number] = t
	return nil
}

// fire adds the details of a fire.
func (f *filler) fire(n int) error {
	d, err := f.detail(n)
	if err != nil {
		return err
	}
	f.d.Fires[n] = d
	for what, t := range map[string]*Text{
		"payload": d.Payload, "final": d.Final, "value": d.Value, "collected": d.Collected,
	} {
		inChange := d.Change != nil && (what == "payload" || what == "final") // which does not show the whole text
		if t == nil || !t.Cut && !inChange {
			continue
		}
		whole, err := f.whole(n, what)
		if err != nil {
			return err
		}
		f.d.Texts[fmt.Sprintf("%d/%s", n, what)] = whole
		if err := f.measure(whole); err != nil {
			return err
		}
	}
	return f.measure(d)
}

// measure adds the size of a value, and reports whether the file becomes too large.
func (f *filler) measure(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if f.size += len(text); f.size > MaxData {
		return ErrTooLarge
	}
	return nil
}
