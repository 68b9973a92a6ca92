package main

import (
	"bytes"
	"io"
	"iter"
	"testing"
	"testing/synctest"
)

// A repeater is a record without end, which repeats a line.
type repeater struct {
	line []byte
	read int64 // bytes
}

func (r *repeater) Read(p []byte) (int, error) {
	n := copy(p, r.line[r.read%int64(len(r.line)):])
	r.read += int64(n)
	return n, nil
}

func (r *repeater) Close() error { return nil }

// TestDiffReadsAhead checks how far the two records of a comparison are read ahead. If it were as many long events as
// short ones, they would need gigabytes.
func TestDiffReadsAhead(t *testing.T) {
	for _, c := range []struct {
		name        string
		size        int // of a payload
		least, most int64
	}{
		{"short events", 10, 500, 1000},
		{"long events", 4 << 20, 1, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := event(1)
			e.Payload = append(append([]byte{'"'}, bytes.Repeat([]byte("x"), c.size)...), '"')
			synctest.Test(t, func(t *testing.T) {
				record := &repeater{line: []byte(lineOf(e))}
				next, stop := iter.Pull2(ahead(&reader{stderr: io.Discard}, []source{{file: record}}))
				defer stop()
				next()
				synctest.Wait() // until the goroutine that reads has to wait
				if n := record.read / int64(len(record.line)); n < c.least || n > c.most {
					t.Errorf("%d events were read, want %d to %d", n, c.least, c.most)
				}
			})
		})
	}
}
