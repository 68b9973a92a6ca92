package wire

import "github.com/hookgen/hookgen/hookkit/internal/opaque"

// A RemoteOption changes how hooks of a service are connected. Generated functions named Remote take them.
type RemoteOption func(*opaque.Remote)

// Points names the points that the service answers, so that the service is not asked. With it, a program can start
// before its hook service. A program that was not built for a point of the service needs it, too.
func Points(names ...string) RemoteOption {
	return func(r *opaque.Remote) { r.Points = append(r.Points, names...) }
}
