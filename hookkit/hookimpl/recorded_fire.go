package hookimpl

import (
	"context"
	"reflect"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
)

// A recordedFire is the memory of one recorded fire. The point keeps it for a later fire, perhaps of another tenant, so
// it is empty between fires.
type recordedFire struct {
	snapshot  Snapshot
	recording recording
	fired     any              // a pointer to an empty Fired struct of the point; nil in the first fire
	verdict   *hookkit.Verdict // its last field
}

// record returns a copy of the snapshot for one fire, which notifies observers and tracers. If fired is not nil, the
// fire stores there what its observers receive.
func (s *Snapshot) record(ctx context.Context, run hookkit.AnyRun, fired *hookkit.AnyFired) *Snapshot {
	own, _ := s.point.recorded.Get().(*recordedFire)
	if own == nil {
		own = new(recordedFire)
	}
	own.snapshot = *s
	own.snapshot.recording = &own.recording
	own.recording.ctx, own.recording.run, own.recording.fired = Background(ctx), run, fired
	own.recording.whole = own
	return &own.snapshot
}

// Record begins the recording of a fire. It returns an empty Fired struct of the point, which [Snapshot.Notify] gets
// back, and s again: the deferred function of a fire needs a variable that does not change. It is small enough to be
// inlined, because the compiler would compile it again for each point.
func Record[F any](s *Snapshot) (fired *F, recorded *Snapshot) {
	fired, ok := s.recording.whole.fired.(*F)
	if !ok {
		fired = new(F)
	}
	s.recording.begin(fired)
	return fired, s
}

// release empties the memory of a recorded fire for a later one. It leaves the memory to the garbage collector if
// something may still use it: an abandoned around hook, or an observer in the background.
func (s *Snapshot) release(fired any) {
	if s.point.wraps || slices.ContainsFunc(s.observers, func(e *entry) bool { return e.queue != nil }) {
		return
	}
	own, point := s.recording.whole, s.point
	reflect.ValueOf(fired).Elem().SetZero()
	own.snapshot, own.recording, own.fired = Snapshot{}, recording{}, fired
	point.recorded.Put(own)
}
