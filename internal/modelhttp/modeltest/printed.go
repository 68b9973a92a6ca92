package modeltest

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// CheckNotPrinted checks that no way to print a value shows a secret.
func CheckNotPrinted(t *testing.T, value any, secrets ...string) {
	t.Helper()
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "value", value)
	text := logged.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		text += fmt.Sprintf(verb, value) + fmt.Sprintf(verb, struct{ Value any }{value})
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("printed: %s", text)
		}
	}
}
