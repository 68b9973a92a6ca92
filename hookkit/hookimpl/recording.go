package hookimpl

import (
	"context"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A recording collects the facts of one fire that observers and tracers receive. Except at an around point, it is the
// context of the hooks, so that a supervisedHook finds the recording of its fire.
type recording struct {
	context.Context // of the fire

	snapshot Snapshot // of this fire alone
	run      hookkit.AnyRun
	key      any               // of the fire; nil at a point without a key
	caller   *hookkit.AnyFired // where to store the fire for AnyPoint.Fire; else nil
	verdict  *hookkit.Verdict  // the last field of the Fired struct; nil until the recording begins
	called   *hookkit.Event    // of the hook that returned last, until the tracers are notified of it; nil without one

	mu      sync.Mutex // of an around point, where a hook that was abandoned may still report; elsewhere a lock costs time
	ended   bool
	ballots []hookkit.Ballot
	err     error // of an around point: of the fire; at all points, the failure that ended the goroutine of the fire
}

// record returns a copy of the snapshot for one fire, which notifies observers and tracers. If caller is not nil, the
// fire stores there what its observers receive.
func (s *Snapshot) record(ctx context.Context, run hookkit.AnyRun, key any, caller *hookkit.AnyFired) *Snapshot {
	r := &recording{Context: Background(ctx), snapshot: *s, run: run, key: key, caller: caller}
	r.snapshot.recording = r
	return &r.snapshot
}

// Record begins the recording of a fire. It takes the verdict in a Fired struct of the point, which [Snapshot.Notify]
// gets, and which nobody else uses until then. It returns s: the deferred function of a fire needs a variable that does
// not change.
func (s *Snapshot) Record(verdict *hookkit.Verdict) (recorded *Snapshot) {
	s.recording.verdict = verdict
	verdict.Start = time.Now()
	return s
}

// Recording reports whether the fire has observers or tracers to notify when it ends, and has not called Record yet.
func (s *Snapshot) Recording() bool { return s.recording != nil && s.recording.verdict == nil }

// concluded ends the recording of an around point, whose hooks may still run in goroutines of others. Their failures do
// not belong to it any more.
func (r *recording) concluded(by hookkit.By, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.err, r.verdict.By = true, err, by
}

func (r *recording) failed(f *hookkit.Failure, ends, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.verdict.Failures = append(r.verdict.Failures, f)
	if r.called != nil {
		failEvent(r.called, f)
	}
	if gone {
		r.err = f
	}
	if ends {
		r.verdict.By = failedBy(f)
	}
}

// Err returns the error that observers receive: the one that the fire returns or, if a hook ended the goroutine so that
// the fire returns nothing, that hook's failure.
func (s *Snapshot) Err(err error) error {
	if s.point.wraps {
		s.recording.mu.Lock()
		defer s.recording.mu.Unlock()
	}
	if err == nil {
		return s.recording.err
	}
	return err
}

// Returned returns the contributions so far, or nil if a hook ended the goroutine, so that the fire returns nothing.
func Returned[T any](s *Snapshot, collected []T) []T {
	if s.recording.err != nil {
		return nil
	}
	return collected
}

// Ballots returns the votes so far.
func (s *Snapshot) Ballots() []hookkit.Ballot { return s.recording.ballots }
