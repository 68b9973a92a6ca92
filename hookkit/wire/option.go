package wire

import (
	"time"

	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A RemoteOption changes how hooks of a service are connected. Generated functions named Remote take them.
type RemoteOption func(*opaque.Remote)

// Points names the points that the service answers, so that the service is not asked. With it, a program can start
// before its hook service. A program that was not built for a point of the service needs it, too.
func Points(names ...string) RemoteOption {
	return func(r *opaque.Remote) { r.Points = append(r.Points, names...) }
}

// Accept connects to a service whose law, policy or types differ from those of the program at the named points. Without
// it, that is an error of Remote, and a failure of each fire if the service changes later. Each reply is still read
// strictly: a decision that this program does not have, or a value of the wrong type, is a failure.
func Accept(points ...string) RemoteOption {
	return func(r *opaque.Remote) { r.Accepted = append(r.Accepted, points...) }
}

// The defaults of [Breaker].
const (
	DefaultFailures = 5
	DefaultPause    = time.Second
)

// Breaker sets when a service that fails is not asked any more: after as many failures in a row, for the pause. The
// fires in between fail at once, as the policy of their point says. Then one fire at a time asks the service, until a
// reply comes. The defaults are [DefaultFailures] and [DefaultPause]. A reply with an error is not a failure here, nor
// is a fire whose run was cancelled, or whose deadline left the service less time than its last reply took. Breaker
// panics unless both are positive.
func Breaker(failures int, pause time.Duration) RemoteOption {
	if failures <= 0 || pause <= 0 {
		panic("wire: Breaker needs positive arguments")
	}
	return func(r *opaque.Remote) { r.Failures, r.Pause = failures, pause }
}

// Observe calls f after each call of the service, for example the method Observe of a [Metrics]. It may be called
// concurrently.
func Observe(f func(Call)) RemoteOption {
	if f == nil {
		panic("wire: the function of Observe is nil")
	}
	return func(r *opaque.Remote) { r.Observe = append(r.Observe, func(call any) { f(call.(Call)) }) }
}
