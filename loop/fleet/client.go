package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Client submits tasks and answers questions, from any process. Make one with [NewClient]. It is safe for concurrent
// use.
type Client struct {
	Name  string      // in records; "": "client"
	Clock agent.Clock // for waiting only; nil: the system clock

	store Store
}

// NewClient returns a client of the fleet that uses the store. Without a Queue, the client of an engine tells it about
// changes; see [Worker.Advance].
func NewClient(s Store) *Client {
	if s.Queue == nil {
		s.Queue = noQueue{}
	}
	return &Client{store: s}
}

func (c *Client) name() string { return cmp.Or(c.Name, "client") }

func (c *Client) clock() agent.Clock {
	if c.Clock == nil {
		return agent.SystemClock{}
	}
	return c.Clock
}

func (c *Client) writer(run string, last uint64) *writer {
	return newWriter(c.store.Log, c.clock(), &record{id: run, last: last}, c.name())
}

// Submit adds a run. When it returns nil, the run will end with a result. After an error, the run may have been added;
// submit the same task again to be sure. A task whose ID has been submitted with another content is an error.
func (c *Client) Submit(ctx context.Context, t Task) error {
	if err := t.check(); err != nil {
		return fmt.Errorf("fleet: the task cannot be submitted: %w", err)
	}
	err := c.writer(t.ID, 0).append(ctx, event{Kind: submitted, Task: &t})
	if errors.Is(err, errLost) { // the log has events already
		var known *record
		if known, err = c.record(ctx, t.ID); err == nil && !sameTask(known.task, t) {
			return fmt.Errorf("fleet: run %s: the ID was submitted before with another task; use a new ID", t.ID)
		}
		if err == nil && known.state != Queued {
			return nil
		}
	}
	if err == nil {
		err = c.put(ctx, t.ID)
	}
	if err != nil {
		return fmt.Errorf("fleet: submit run %s: %w", t.ID, err)
	}
	return nil
}

// sameTask compares two tasks as they are stored.
func sameTask(a, b Task) bool {
	data, err := json.Marshal(b)
	var stored Task
	return err == nil && json.Unmarshal(data, &stored) == nil && reflect.DeepEqual(a, stored)
}

// insist calls f again while the server is gone, until ctx is done.
func (c *Client) insist(ctx context.Context, f func() error) error {
	for again := (retry{clock: c.clock(), wait: firstWait}); ; {
		err := f()
		if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnreadable) {
			return err
		}
		if err := again.pause(ctx, err); err != nil {
			return err
		}
	}
}

// put adds a run to the queue.
func (c *Client) put(ctx context.Context, run string) error {
	return c.insist(ctx, func() error { return c.store.Queue.Put(ctx, run) })
}

// record returns the record of a run.
func (c *Client) record(ctx context.Context, run string) (rec *record, err error) {
	err = c.insist(ctx, func() error {
		rec, err = look(ctx, c.store.Log, run)
		return err
	})
	return rec, err
}

// Status returns the state of a run. For an unknown run, the error wraps ErrNotFound, and for a run that this release
// cannot read ErrUnreadable.
func (c *Client) Status(ctx context.Context, run string) (Status, error) {
	rec, err := look(ctx, c.store.Log, run)
	if err != nil {
		return Status{}, fmt.Errorf("fleet: %w", err)
	}
	return rec.status(), nil
}

// List returns the states of all runs, by the time of their submission. It reads all logs, so it is for operators and
// not for each request. If this release cannot read some of the runs, the error wraps ErrUnreadable and names them, and
// List returns the other ones as well.
func (c *Client) List(ctx context.Context) ([]Status, error) {
	runs, err := c.store.Log.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("fleet: list the runs: %w", err)
	}
	all := make([]Status, 0, len(runs))
	var unreadable []error
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		s, err := c.Status(ctx, run)
		switch {
		case err == nil:
			all = append(all, s)
		case errors.Is(err, ErrUnreadable):
			unreadable = append(unreadable, err)
		case !errors.Is(err, ErrNotFound): // it was not removed meanwhile
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.Task.ID, b.Task.ID))
	})
	return all, errors.Join(unreadable...)
}

// Wait waits for the result of a run. While the server is gone, it waits for the server. If another release has written
// an event that this one cannot read, the error wraps ErrUnreadable. Then the run goes on, and a client of that release
// can wait for it.
func (c *Client) Wait(ctx context.Context, run string) (Result, error) {
	s, err := c.WaitFor(ctx, run, func(s Status) bool { return s.State.Final() })
	if err != nil {
		return Result{}, err
	}
	return *s.Result, nil
}

// WaitFor waits until a run has a state that f accepts, for example until it is suspended. It has the errors of Wait.
func (c *Client) WaitFor(ctx context.Context, run string, f func(Status) bool) (Status, error) {
	rec := &record{id: run}
	for {
		var s Status
		accepted := false
		err := c.insist(ctx, func() error {
			if err := rec.follow(ctx, c.store.Log); err != nil {
				return err
			}
			if s = rec.status(); f(s) {
				accepted = true
				return nil
			}
			return c.store.Log.Await(ctx, run, rec.last)
		})
		switch {
		case err != nil:
			return Status{}, fmt.Errorf("fleet: wait for run %.70q: %w", run, err)
		case accepted:
			return s, nil
		}
	}
}

// Answer gives answers to questions of a suspended run, which then continues. Each question is answered once: a second
// answer is an error that wraps ErrConflict. Other questions stay open, and the run is suspended again with them.
// Answer does not check whether the person may answer; the caller does. While the server is gone, it waits for the
// server.
func (c *Client) Answer(ctx context.Context, run string, answers ...Answer) error {
	if len(answers) == 0 {
		return fmt.Errorf("fleet: run %.70s: there is no answer; give at least one", run)
	}
	for {
		rec, err := c.record(ctx, run)
		if err != nil {
			return fmt.Errorf("fleet: answer run %.70s: %w", run, err)
		}
		if err := fits(rec, answers); err != nil {
			return fmt.Errorf("fleet: answer run %s: %w", run, err)
		}
		err = c.writer(run, rec.last).append(ctx, event{Kind: answered, Answers: answers})
		if errors.Is(err, errLost) {
			continue
		}
		if err == nil {
			err = c.put(ctx, run)
		}
		if err != nil {
			return fmt.Errorf("fleet: answer run %s: %w", run, err)
		}
		return nil
	}
}

// Check returns the error that Answer would return for answers now, or nil. An engine uses it before it sends them.
func (c *Client) Check(ctx context.Context, run string, answers ...Answer) error {
	rec, err := look(ctx, c.store.Log, run)
	if err == nil {
		err = fits(rec, answers)
	}
	if err != nil {
		return fmt.Errorf("fleet: answer run %.70s: %w", run, err)
	}
	return nil
}

// fits checks answers against the pending questions.
func fits(rec *record, answers []Answer) error {
	if rec.state != Suspended {
		return fmt.Errorf("the run is %s and waits for no answer: %w", rec.state, ErrConflict)
	}
	seen := make(map[string]bool)
	for _, a := range answers {
		q := rec.question(a.Question)
		switch {
		case q == nil:
			return fmt.Errorf("the question %.100q is not pending: %w", a.Question, ErrConflict)
		case seen[q.ID]:
			return fmt.Errorf("the question %q has two answers: %w", q.ID, ErrAnswer)
		}
		if err := a.check(*q); err != nil {
			return fmt.Errorf("%w: %w", err, ErrAnswer)
		}
		seen[q.ID] = true
	}
	return nil
}

// Cancel ends a run. A worker that works on it stops within a third of the lifetime of a claim, or at its next step.
// The result has the state Cancelled, unless the run ends by itself before. Cancelling an ended run does nothing. While
// the server is gone, it waits for the server.
func (c *Client) Cancel(ctx context.Context, run string) error {
	for {
		rec, err := c.record(ctx, run)
		if err != nil {
			return fmt.Errorf("fleet: cancel run %.70s: %w", run, err)
		}
		if rec.state.Final() {
			return nil
		}
		if !rec.cancel {
			err = c.writer(run, rec.last).append(ctx, event{Kind: cancelled})
		}
		if errors.Is(err, errLost) {
			continue
		}
		if err == nil {
			err = c.put(ctx, run)
		}
		if err != nil {
			return fmt.Errorf("fleet: cancel run %s: %w", run, err)
		}
		return nil
	}
}

// An Event is one line of the history of a run.
type Event struct {
	Number uint64    `json:"number"`
	Time   time.Time `json:"time"` // by the clock of the server
	Kind   string    `json:"kind"`
	By     string    `json:"by,omitempty"`   // the worker or client
	Text   string    `json:"text,omitempty"` // for people
}

// History returns the events of a run, for people. For an unknown run, the error wraps ErrNotFound.
func (c *Client) History(ctx context.Context, run string) ([]Event, error) {
	entries, err := read(ctx, c.store.Log, run, 0)
	if err != nil {
		return nil, fmt.Errorf("fleet: history of run %.70s: %w", run, err)
	}
	all := make([]Event, 0, len(entries))
	for _, entry := range entries {
		line := Event{Number: entry.Number, Time: entry.Time}
		if e, err := decode(entry); err != nil {
			line.Kind, line.Text = "unreadable", err.Error()
		} else {
			line.Kind, line.By, line.Text = string(e.Kind), e.By, strings.TrimSpace(e.text())
		}
		all = append(all, line)
	}
	return all, nil
}

// text describes an event in a few words.
func (e *event) text() string {
	switch e.Kind {
	case replied:
		return fmt.Sprintf("step %d: %d calls", e.Reply.Step, len(e.Reply.Response.ToolCalls))
	case begun:
		return fmt.Sprintf("call %.100s of %s", e.Call.Key, e.Call.Request.Name)
	case finished:
		return fmt.Sprintf("call %.100s %.200s", e.Outcome.Key, e.Outcome.Result.Err)
	case saved:
		return fmt.Sprintf("step %d", e.Progress.Counters.Steps)
	case suspended:
		if e.Suspension != nil {
			return fmt.Sprintf("%d questions", len(e.Suspension.Questions))
		}
		return fmt.Sprintf("%d calls in doubt", len(e.Doubts))
	case released:
		return e.Reason
	case ended:
		return string(e.Result.State) + " " + e.Result.Err
	}
	return ""
}

// Balance returns the state of an account.
func (c *Client) Balance(ctx context.Context, account string) (Balance, error) {
	b := bank{table: c.store.Table, clock: c.clock()}
	balance, _, _, err := b.balance(ctx, account)
	return balance, err
}
