package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"syscall"
)

// Problems is the logger of a server whose configuration names no log file. Errors are logged, for example that the
// disk is full. The first error for which the server cannot start is kept for Start.
type problems chan error

func (problems) Noticef(string, ...any) {}
func (problems) Warnf(string, ...any)   {}
func (problems) Debugf(string, ...any)  {}
func (problems) Tracef(string, ...any)  {}

func (problems) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.Contains(text, syscall.ENOSPC.Error()) { // the server writes nothing more, also when there is room again
		text += "; make room, and then start the server again"
	}
	slog.Error("nats server", "error", text)
}

func (p problems) Fatalf(format string, args ...any) {
	select {
	case p <- fmt.Errorf(format, args...):
	default:
	}
}
