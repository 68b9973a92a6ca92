package hookimpl

import (
	"context"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A recording collects the facts of one fire that observers and tracers receive.
type recording struct {
	ctx   context.Context
	run   hookkit.AnyRun
	key   any               // of the fire; nil at a point without a key
	fired *hookkit.AnyFired // where to store the fire for AnyPoint.Fire; else nil
	whole *recordedFire     // which the recording is a part of

	begun   bool
	mu      sync.Mutex // an around hook that was abandoned may still report
	ended   bool
	verdict *hookkit.Verdict // in the Fired struct of the point
	ballots []hookkit.Ballot
	gone    error // the failure of a hook, or of the act, that ended the goroutine of the fire
	err     error // of an around point: the error that the fire returns
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

// begin starts the recording. fired is a pointer to the Fired struct of the point, which nobody else uses before
// Notify.
func (r *recording) begin(fired any) {
	if r.whole.verdict == nil {
		r.whole.verdict = verdictOf(fired)
	}
	r.verdict, r.begun = r.whole.verdict, true
	r.verdict.Start = time.Now()
}
