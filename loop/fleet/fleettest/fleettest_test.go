package fleettest_test

import (
	"testing"
	"time"

	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/fleet/fleettest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	fleettest.TestStore(t, func(*testing.T) fleet.Store { return fleet.NewMemory(time.Second) })
}
