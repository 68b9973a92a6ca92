package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
)

// A lineStore is an audit store in memory.
type lineStore struct {
	mu    sync.Mutex
	lines [][]byte
	err   error // of the next calls
}

func (s *lineStore) Append(_ context.Context, next func(iter.Seq2[[]byte, error]) ([]byte, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	line, err := next(func(yield func([]byte, error) bool) {
		for _, line := range slices.Backward(s.lines) {
			if !yield(line, nil) {
				return
			}
		}
	})
	if err == nil {
		s.lines = append(s.lines, bytes.Clone(line))
	}
	return err
}

// verify verifies the log, and returns its state and the problems.
func (s *lineStore) verify(check record.AuditCheck) (record.AuditState, string) {
	state, err := record.VerifyAudit(bytes.NewReader(bytes.Join(s.lines, []byte("\n"))), check)
	if err != nil {
		return state, err.Error()
	}
	return state, ""
}

// records writes n records with an audit log.
func records(a *record.Audit, n int) {
	var hooks agent.Hooks
	hooks.Use(a)
	run := agent.NewRun(&agent.Env{Agent: "a"})
	for i := range n {
		_, _ = hooks.AfterTool.Fire(context.Background(), run, &agent.ToolCallResult{Output: fmt.Sprint(i)})
	}
}

func TestAuditStoreHasAChain(t *testing.T) {
	for name, key := range map[string][]byte{"no key": nil, "key": []byte("secret")} {
		t.Run(name, func(t *testing.T) {
			s := new(lineStore)
			newAudit := func() *record.Audit {
				return &record.Audit{Store: s, Key: key, OnError: func(err error) { t.Error(err) }}
			}
			first, second := newAudit(), newAudit() // as two processes
			records(first, 3)
			records(second, 2)
			records(first, 1)
			records(newAudit(), 1)
			state, problems := s.verify(record.AuditCheck{Key: key})
			if problems != "" || state.Records != 7 || state.Seq != 7 || first.Head().Seq != 6 {
				t.Errorf("%+v, head %+v: %s", state, first.Head(), problems)
			}
		})
	}
}

func TestChangedAuditStoreIsNoticed(t *testing.T) {
	change := func(at int, from, to string) func(*lineStore) {
		return func(s *lineStore) { s.lines[at] = bytes.Replace(s.lines[at], []byte(from), []byte(to), 1) }
	}
	insert := func(line string) func(*lineStore) {
		return func(s *lineStore) { s.lines = append(s.lines, []byte(line)) }
	}
	for _, c := range []struct {
		name   string
		change func(*lineStore)
		notice string // by the writer
		verify string
	}{
		{"nothing", func(*lineStore) {}, "", ""},
		{"last line changed", change(2, `"seq":3`, `"seq":9`), "it no longer has record 3", "does not match the line"},
		{"last line removed", func(s *lineStore) { s.lines = s.lines[:2] }, "it no longer has record 3", "does not continue"},
		{"half a line inserted", insert(`{"protocol":1`), "lines that are not its records were added", "not a record"},
		{"line inserted", insert(`{"protocol":1}`), "lines that are not its records were added", "not a record"},
		{"record repeated", func(s *lineStore) { s.lines = append(s.lines, s.lines[0]) },
			"records that do not continue it were added", "moved"},
		{"all moved away", func(s *lineStore) { s.lines = nil }, "", "pass After"},
		{"early line changed", change(0, `"seq":1`, `"seq":2`), "", "does not match the line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, key := new(lineStore), []byte("secret")
			var noticed []string
			a := &record.Audit{Store: s, Key: key, OnError: func(err error) { noticed = append(noticed, err.Error()) }}
			records(a, 3)
			c.change(s)
			records(a, 2)
			if got := strings.Join(noticed, "\n"); (got == "") != (c.notice == "") || !strings.Contains(got, c.notice) ||
				len(noticed) > 1 {
				t.Errorf("the writer noticed %q, want %q", got, c.notice)
			}
			if _, got := s.verify(record.AuditCheck{Key: key}); (got == "") != (c.verify == "") ||
				!strings.Contains(got, c.verify) {
				t.Errorf("the check found %q, want %q", got, c.verify)
			}
			if a.Head().Seq != 5 {
				t.Errorf("the head is %+v", a.Head())
			}
		})
	}
}

func TestHeadFileProtectsAuditStore(t *testing.T) {
	for _, c := range []struct {
		name   string
		key    string
		change func(*lineStore)
		want   string
	}{
		{"unchanged", "k", func(*lineStore) {}, ""},
		{"truncated", "k", func(s *lineStore) { s.lines = s.lines[:1] }, "it ends with record 1, but its head file with 3"},
		{"moved away", "k", func(s *lineStore) { s.lines = nil }, ""},
		{"another key", "other", func(*lineStore) {}, "no record that was written with this key"},
		{"foreign lines", "k", func(s *lineStore) { s.lines = [][]byte{[]byte("hello")} }, "another log has replaced it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, head := new(lineStore), filepath.Join(t.TempDir(), "head")
			records(&record.Audit{Store: s, HeadFile: head, Key: []byte("k")}, 3)
			c.change(s)
			var noticed []string
			headFile := head
			if c.key != "k" {
				headFile = ""
			}
			again := &record.Audit{Store: s, HeadFile: headFile, Key: []byte(c.key),
				OnError: func(err error) { noticed = append(noticed, err.Error()) }}
			records(again, 1)
			if got := strings.Join(noticed, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("noticed %q, want %q", got, c.want)
			}
		})
	}
}

func TestRemovedRecordsOfAnotherWriterAreNoticed(t *testing.T) {
	s, headFile := new(lineStore), filepath.Join(t.TempDir(), "head")
	var noticed []string
	writer := func() *record.Audit {
		return &record.Audit{Store: s, HeadFile: headFile, Key: []byte("k"),
			OnError: func(err error) { noticed = append(noticed, err.Error()) }}
	}
	one, other := writer(), writer()
	records(one, 2)
	records(other, 3)
	records(one, 1) // continues the records of the other one
	if len(noticed) > 0 {
		t.Fatalf("noticed %q", noticed)
	}
	records(other, 3)
	s.lines = s.lines[:6]
	records(one, 1)
	if len(noticed) != 1 || !strings.Contains(noticed[0], "it ends with record 6, but its head file with 9") {
		t.Errorf("noticed %q", noticed)
	}
}

func TestLostRecordsOfAnAuditStoreAreCounted(t *testing.T) {
	s := new(lineStore)
	var noticed []string
	a := &record.Audit{Store: s, OnError: func(err error) { noticed = append(noticed, err.Error()) }}
	records(a, 1)
	s.err = errors.New("disk full")
	records(a, 2)
	s.err = nil
	records(a, 1)
	state, problems := s.verify(record.AuditCheck{})
	if problems != "" || state.Lost != 2 || state.Records != 2 || len(noticed) != 2 ||
		!strings.Contains(noticed[1], "lost, 2 so far: disk full") {
		t.Errorf("%+v, %s, %q", state, problems, noticed)
	}
}

func TestAuditNeedsOnePlace(t *testing.T) {
	for want, a := range map[string]*record.Audit{
		"or set Store":                     {},
		"Path and Store are both set":      {Path: "x", Store: new(lineStore)},
		"Points names \"x\", which is not": {Store: new(lineStore), Points: []string{"x"}},
	} {
		fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(a) })
	}
}
