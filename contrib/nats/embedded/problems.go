package embedded

import (
	"fmt"
	"log/slog"
)

// Problems is the logger of a server whose configuration names no log file. Errors are logged, for example that the
// disk is full. The first error for which the server cannot start is kept for Start.
type problems chan error

func (problems) Noticef(string, ...any) {}
func (problems) Warnf(string, ...any)   {}
func (problems) Debugf(string, ...any)  {}
func (problems) Tracef(string, ...any)  {}

func (problems) Errorf(format string, args ...any) {
	slog.Error("nats server", "error", fmt.Sprintf(format, args...))
}

func (p problems) Fatalf(format string, args ...any) {
	select {
	case p <- fmt.Errorf(format, args...):
	default:
	}
}
