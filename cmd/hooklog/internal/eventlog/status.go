package eventlog

import "fmt"

// A Status says how far the record has been read.
type Status struct {
	// Generation is another number after the record was read again from its beginning, so that the numbers of events and
	// runs have changed. Two indexes begin with different ones, also of one record.
	Generation int64 `json:"generation"`

	Events   int       `json:"events"`
	Runs     int       `json:"runs"`
	Read     int64     `json:"read"`     // of the current file, in bytes
	Size     int64     `json:"size"`     // of the current file, in bytes
	Problems []Problem `json:"problems"` // the first ones
	More     int       `json:"more"`     // the number of problems that are not in Problems
}

// A Problem is a line that is not an event.
type Problem struct {
	File string `json:"file"` // its name without the directory
	Line int    `json:"line"` // from 1; 0 if the problem is one of the whole file
	Text string `json:"text"` // contains at most a number of the line
	Open bool   `json:"open"` // the line is the last one and incomplete, and may become an event
}

// String returns the problem after its file and line.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// maxProblems bounds the memory for a file that is not a record at all.
const maxProblems = 100

// problems are the first problems of a record, and the number of the others.
type problems struct {
	first []Problem
	more  int
	last  *Problem // an incomplete last line, which the next update may complete
}

func (p *problems) add(problem Problem) {
	if len(p.first) < maxProblems {
		p.first = append(p.first, problem)
	} else {
		p.more++
	}
}

// Status returns the status. The problems end with the one of an incomplete last line, if there is one.
func (x *Index) Status() Status {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.status
	s.Events, s.Runs, s.More = x.events.count, x.runs.count, x.problems.more
	s.Problems = append([]Problem{}, x.problems.first...)
	if x.problems.last != nil {
		s.Problems = append(s.Problems, *x.problems.last)
	}
	return s
}

// Changed returns a channel that is closed at the next change of the status.
func (x *Index) Changed() <-chan struct{} {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.changed
}

// notify reports a change. The caller holds mu.
func (x *Index) notify() {
	close(x.changed)
	x.changed = make(chan struct{})
}
