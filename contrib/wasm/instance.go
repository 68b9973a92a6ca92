package wasm

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// An instance is a started guest, with its memory. One goroutine at a time uses it.
type instance struct {
	module api.Module
	stderr head
	ctx    context.Context // of the call under way
}

// start starts a guest. A context that ends stops it, also during its initialization.
func (c *Caller) start(ctx context.Context) (*instance, error) {
	g := &instance{ctx: ctx}
	begun := time.Now()
	const step = sys.ClockResolution(time.Millisecond)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").
		WithStderr(&g.stderr).WithRandSource(rand.Reader).WithNanosleep(g.sleep).
		WithNanotime(func() int64 { return int64(time.Since(begun).Truncate(time.Millisecond)) }, step).
		WithWalltime(func() (int64, int32) {
			now := time.Now().Truncate(time.Millisecond)
			return now.Unix(), int32(now.Nanosecond())
		}, step)
	var err error
	err = guarded(func() error {
		g.module, err = c.runtime.InstantiateModule(ctx, c.compiled, config)
		return err
	})
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		if g.module != nil {
			g.close()
		}
		return nil, g.explain(ctx, err)
	}
	return g, nil
}

// sleep waits for a guest that has nothing to do, and no longer than its call.
func (g *instance) sleep(ns int64) {
	wake := time.NewTimer(time.Duration(ns))
	defer wake.Stop()
	select {
	case <-wake.C:
	case <-g.ctx.Done():
	}
}

func (g *instance) close() { _ = g.module.Close(context.Background()) }

// ask writes a request into the memory of the guest, unless it is nil, and returns a copy of its reply.
func (g *instance) ask(ctx context.Context, function string, request []byte, maxBytes int) ([]byte, error) {
	g.ctx = ctx
	memory := g.module.ExportedMemory("memory")
	if request != nil {
		at, err := g.call(ctx, exportBuffer, uint64(len(request)))
		if err != nil {
			return nil, err
		}
		if !memory.Write(uint32(at), request) {
			return nil, fmt.Errorf("the guest wants %d bytes at the address %d, outside of its memory of %d bytes",
				len(request), uint32(at), memory.Size())
		}
	}
	reply, err := g.call(ctx, function)
	if err != nil {
		return nil, err
	}
	at, size := uint32(reply>>32), uint32(reply)
	if int64(size) > int64(maxBytes) {
		return nil, fmt.Errorf("the reply has %d bytes, more than %d", size, maxBytes)
	}
	text, ok := memory.Read(at, size)
	if !ok {
		return nil, fmt.Errorf("the reply has %d bytes at the address %d, outside of the guest's memory of %d bytes",
			size, at, memory.Size())
	}
	if size == 0 {
		return nil, errors.New("the reply is empty")
	}
	return bytes.Clone(text), nil
}

// call calls an exported function that has one result.
func (g *instance) call(ctx context.Context, function string, args ...uint64) (result uint64, err error) {
	err = guarded(func() error {
		results, err := g.module.ExportedFunction(function).Call(ctx, args...)
		if err == nil {
			result = results[0]
		}
		return err
	})
	return result, err
}

// guarded returns a panic as an error. Functions of WASI panic if the arguments of a guest are strange enough.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a function that the guest called panicked: %v", v)
		}
	}()
	return f()
}

// explain returns the reason for the end of an instance, with its output to standard error.
func (g *instance) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if exit := new(sys.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("the guest ended with the status %d", exit.ExitCode())
	} else {
		err = brief(err)
	}
	if text := strings.TrimSpace(string(g.stderr)); text != "" {
		return fmt.Errorf("%w; it wrote to standard error: %q", err, text)
	}
	return err
}

// brief returns an error with the first line of the text. The others are the stack of the guest.
func brief(err error) error {
	const limit = 300
	text, _, more := strings.Cut(err.Error(), "\n")
	if len(text) > limit {
		text, more = text[:limit]+"...", true
	}
	if !more {
		return err
	}
	return errors.New(text)
}

// A head keeps the beginning of the text that a guest writes to standard error. A program in Go that panics writes the
// reason first.
type head []byte

// Write implements [io.Writer].
func (h *head) Write(p []byte) (int, error) {
	const limit = 1 << 10
	*h = append(*h, p[:min(len(p), max(0, limit-len(*h)))]...)
	return len(p), nil
}
