package hookimpl

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A recording collects the facts of one fire that observers and tracers receive. The point keeps its memory for a later
// fire, perhaps of another tenant, so it is empty between fires.
type recording struct {
	snapshot Snapshot // of this fire alone
	ctx      context.Context
	run      hookkit.AnyRun
	key      any               // of the fire; nil at a point without a key
	caller   *hookkit.AnyFired // where to store the fire for AnyPoint.Fire; else nil

	begun   bool
	fired   any              // a pointer to a Fired struct of the point; nil in the first fire
	verdict *hookkit.Verdict // its last field

	mu      sync.Mutex // an around hook that was abandoned may still report
	ended   bool
	ballots []hookkit.Ballot
	gone    error // the failure of a hook, or of the act, that ended the goroutine of the fire
	err     error // of an around point: the error that the fire returns
}

// record returns a copy of the snapshot for one fire, which notifies observers and tracers. If caller is not nil, the
// fire stores there what its observers receive.
func (s *Snapshot) record(ctx context.Context, run hookkit.AnyRun, key any, caller *hookkit.AnyFired) *Snapshot {
	r, _ := s.point.recorded.Get().(*recording)
	if r == nil {
		r = new(recording)
	}
	r.snapshot = *s
	r.snapshot.recording = r
	r.ctx, r.run, r.key, r.caller = Background(ctx), run, key, caller
	if r.snapshot.timesHooks() {
		r.snapshot.fill()
	}
	return &r.snapshot
}

// Record begins the recording of a fire. It returns an empty Fired struct of the point, which [Snapshot.Notify] gets
// back, and s again: the deferred function of a fire needs a variable that does not change. It is small enough to be
// inlined, because the compiler would compile it again for each point.
func Record[F any](s *Snapshot) (fired *F, recorded *Snapshot) {
	fired, ok := s.recording.fired.(*F)
	if !ok {
		fired = new(F)
	}
	s.recording.begin(fired)
	return fired, s
}

// begin starts the recording. Nobody else uses the Fired struct before Notify.
func (r *recording) begin(fired any) {
	if r.verdict == nil {
		r.fired, r.verdict = fired, verdictOf(fired)
	}
	r.begun = true
	r.verdict.Start = time.Now()
}

// release empties the memory of a recorded fire for a later one. It leaves the memory to the garbage collector if
// something may still use it: an abandoned hook, or an observer in the background.
func (s *Snapshot) release() {
	if s.point.wraps || s.timesHooks() || slices.ContainsFunc(s.observers, func(e *entry) bool { return e.queue != nil }) {
		return
	}
	r, point := s.recording, s.point
	reflect.ValueOf(r.fired).Elem().SetZero()
	*r = recording{fired: r.fired, verdict: r.verdict}
	point.recorded.Put(r)
}

func (r *recording) decided(by hookkit.By) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verdict.By = by
}

// concluded is decided for an around point, whose hooks may still run in goroutines of others. Their failures do not
// belong to the recording any more.
func (r *recording) concluded(by hookkit.By, err error) {
	r.mu.Lock()
	r.ended, r.err, r.gone = true, err, nil
	r.mu.Unlock()
	r.decided(by)
}

// took records the time of a hook that has returned if it is longer than the limit.
func (r *recording) took(e *entry, start time.Time, limit time.Duration) {
	elapsed := time.Since(start)
	r.mu.Lock()
	defer r.mu.Unlock()
	if elapsed > limit && !r.ended {
		r.verdict.Slow = append(r.verdict.Slow, hookkit.SlowHook{Hook: e.Name, Site: e.Site, Start: start, Elapsed: elapsed})
	}
}

func (r *recording) voted(by hookkit.By, outcome any) {
	r.ballots = append(r.ballots, hookkit.Ballot{By: by, Exit: outcome})
}

func (r *recording) failed(f *hookkit.Failure, ends, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.verdict.Failures = append(r.verdict.Failures, f)
	if gone {
		r.gone = f
	}
	if ends {
		r.verdict.By = failedBy(f)
	}
}

// Err returns the error that observers receive: the one that the fire returns or, if a hook ended the goroutine so that
// the fire returns nothing, that hook's failure.
func (s *Snapshot) Err(err error) error {
	s.recording.mu.Lock()
	defer s.recording.mu.Unlock()
	if err == nil {
		return s.recording.gone
	}
	return err
}

// Returned returns the contributions so far, or nil if a hook ended the goroutine, so that the fire returns nothing.
func Returned[T any](s *Snapshot, collected []T) []T {
	if s.recording.gone != nil {
		return nil
	}
	return collected
}

// Ballots returns the votes so far.
func (s *Snapshot) Ballots() []hookkit.Ballot { return s.recording.ballots }
