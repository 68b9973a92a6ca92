// Command conformance is the guest of the tests: it runs whichever hooks of the fixture it is sent.
package main

import (
	"github.com/hookgen/hookgen/contrib/wasm/guest"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/remote/acts"
)

func init() {
	guest.Serve(acts.Host(func() ([]hookkit.AnyPoint, wire.Handler) {
		h := new(fixture.Hooks)
		return h.Points(), fixture.Serve(h, nil)
	}))
}

func main() {}
