package eventline

import "time"

// A Position is the place of an event among the events of its run.
type Position struct {
	Seq  int64
	Time time.Time
}

// Before reports whether an event is out of order if it follows an event at q, for example because files were joined in
// the wrong order: both its number and its time are earlier. In a run that another process continues only the numbers
// begin again, and of two concurrent fires the first one to be numbered may be the second one to be written.
func (p Position) Before(q Position) bool { return p.Seq <= q.Seq && p.Time.Before(q.Time) }
