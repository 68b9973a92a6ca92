package wasm

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/tetratelabs/wazero"
)

// The defaults of the options.
const (
	DefaultTimeout   = 5 * time.Second
	DefaultMaxBytes  = 1 << 20
	DefaultMaxMemory = 64 << 20
)

// An Option is an option of [New].
type Option func(*Caller)

// Name names the guest in errors, records and listings. The default is "wasm".
func Name(name string) Option { return func(c *Caller) { c.name = name } }

// Timeout limits one call, the wait for its turn included. A guest that computes for longer is stopped and replaced.
// The default is [DefaultTimeout]. It panics unless d is positive.
//
// If the context of a call ends earlier, for example by the Timeout of the hook, the call ends at once. The guest
// continues until it replies or its own limit is over, so that a caller who is in a hurry does not cost its state.
func Timeout(d time.Duration) Option {
	if d <= 0 {
		panic("wasm: Timeout needs a positive duration")
	}
	return func(c *Caller) { c.timeout = d }
}

// MaxBytes limits one reply. The default is [DefaultMaxBytes]. It panics unless n is positive.
func MaxBytes(n int) Option {
	if n <= 0 {
		panic("wasm: MaxBytes needs a positive number")
	}
	return func(c *Caller) { c.maxBytes = n }
}

// MaxMemory limits the memory of one instance, in bytes. It is rounded down to pages of 64 KiB. An instance of a small
// guest in Go needs 4 MiB. The default is [DefaultMaxMemory]. It panics unless n is at least a page and at most 4 GiB.
func MaxMemory(n int64) Option {
	if n < page || n > 1<<32 {
		panic(fmt.Sprintf("wasm: MaxMemory(%d) is not between %d and %d", n, page, int64(1<<32)))
	}
	return func(c *Caller) { c.maxMemory = n }
}

// Stateless declares that the hooks keep nothing between calls. Then up to n instances run at a time, and each call
// goes to any of them. Without it there is one instance, and calls wait for each other. It panics unless n is positive.
func Stateless(n int) Option {
	if n <= 0 {
		panic("wasm: Stateless needs a positive number")
	}
	return func(c *Caller) { c.instances = n }
}

// OnReplace sets the function that is told when an instance was stopped, with the reason: it took too long, ended,
// failed, or broke the protocol. The next call starts another one, which has no state. The default logs a warning with
// slog. The function may be called concurrently.
func OnReplace(f func(cause error)) Option {
	if f == nil {
		panic("wasm: the function of OnReplace is nil")
	}
	return func(c *Caller) { c.onReplace = f }
}

// Cache shares compiled code with other callers that have the same cache, so that the second caller for a module starts
// at once. The program closes the cache after its callers. A cache with a directory is kept between programs; whoever
// can write there decides what this process executes.
func Cache(shared wazero.CompilationCache) Option { return func(c *Caller) { c.cache = shared } }

func (c *Caller) logReplaced(cause error) {
	slog.Warn("wasm: an instance is replaced; the hooks begin with new state", "guest", c.name, "cause", cause)
}
