package natsfleet

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/nats/internal/servertest"
)

func TestMain(m *testing.M) {
	if servertest.Main() {
		return
	}
	goleak.VerifyTestMain(m)
}
