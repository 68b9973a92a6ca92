package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A Caller is a [wire.Caller] whose service is a guest in this process. It is safe for concurrent use.
type Caller struct {
	name      string
	timeout   time.Duration
	maxBytes  int
	maxMemory int64
	instances int
	onReplace func(error)
	cache     wazero.CompilationCache // nil for none

	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	free     chan *slot // those without a call
	ctx      context.Context
	end      context.CancelCauseFunc
	closing  sync.Once
}

// A slot is the place of one instance.
type slot struct{ instance *instance } // nil before the first call, and after a failure

// page is the unit of memory in WebAssembly.
const page = 64 << 10

// The functions that a guest exports.
const (
	exportBuffer   = "hookgen_buffer"   // (size i32) -> address i32: where the request of that size is to be written
	exportDescribe = "hookgen_describe" // () -> reply i64: the description
	exportCall     = "hookgen_call"     // () -> reply i64: the reply to the request in the buffer
)

// New checks and compiles a module, and starts nothing: the first call does. Call Close to release it. It compiles some
// megabytes a second, and calls none of the module's functions.
//
// A module that is invalid, that imports other functions than those of WASI preview 1, or that lacks the functions of
// package guest is an error.
func New(module []byte, opts ...Option) (*Caller, error) {
	c := &Caller{name: "wasm", timeout: DefaultTimeout, maxBytes: DefaultMaxBytes, maxMemory: DefaultMaxMemory,
		instances: 1}
	c.onReplace = c.logReplaced
	for _, o := range opts {
		o(c)
	}
	stripped, err := strip(module)
	if err != nil {
		return nil, fmt.Errorf("wasm: %s: %w", c.name, err)
	}
	c.ctx, c.end = context.WithCancelCause(context.Background())
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(uint32(c.maxMemory / page)).
		WithCloseOnContextDone(true).WithDebugInfoEnabled(false).WithCoreFeatures(features)
	if c.cache != nil {
		config = config.WithCompilationCache(c.cache)
	}
	c.runtime = wazero.NewRuntimeWithConfig(c.ctx, config)
	if err := c.compile(stripped); err != nil {
		_ = c.runtime.Close(c.ctx)
		return nil, fmt.Errorf("wasm: %s: %w", c.name, err)
	}
	c.free = make(chan *slot, c.instances)
	for range c.instances {
		c.free <- new(slot)
	}
	return c, nil
}

// features are the extensions of WebAssembly 1.0 that Go uses, and multiple results. Reference types are not among
// them: with them, a guest could grow tables, for which wazero has no limit.
const features = api.CoreFeaturesV1 | api.CoreFeatureSignExtensionOps | api.CoreFeatureBulkMemoryOperations |
	api.CoreFeatureNonTrappingFloatToIntConversion | api.CoreFeatureMultiValue

// compile compiles the module, and checks its imports and exports.
func (c *Caller) compile(module []byte) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the module cannot be compiled: %v", v)
		}
	}()
	if _, err := wasi_snapshot_preview1.Instantiate(c.ctx, c.runtime); err != nil {
		return err
	}
	if c.compiled, err = c.runtime.CompileModule(c.ctx, module); err != nil {
		return fmt.Errorf("the module cannot be compiled: %w", brief(err))
	}
	for _, f := range c.compiled.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasi_snapshot_preview1.ModuleName {
			return fmt.Errorf("the module imports the function %.100q of %.100q; a guest gets nothing but WASI preview 1",
				name, from)
		}
	}
	exported := c.compiled.ExportedFunctions()
	for name, want := range map[string][2][]api.ValueType{
		exportBuffer:   {{api.ValueTypeI32}, {api.ValueTypeI32}},
		exportDescribe: {nil, {api.ValueTypeI64}},
		exportCall:     {nil, {api.ValueTypeI64}},
	} {
		f := exported[name]
		if f == nil || string(f.ParamTypes()) != string(want[0]) || string(f.ResultTypes()) != string(want[1]) {
			return fmt.Errorf("the module does not export the function %s as package guest does; import that package, "+
				"and build with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared", name)
		}
	}
	if c.compiled.ExportedMemories()["memory"] == nil {
		return errors.New("the module does not export its memory under the name memory")
	}
	return nil
}

// String returns the name of the guest.
func (c *Caller) String() string { return c.name }

// Close stops the instances and releases the module. Calls under way and later ones fail. A second Close does nothing.
func (c *Caller) Close() (err error) {
	c.closing.Do(func() {
		c.end(errClosed)
		for range c.instances {
			<-c.free
		}
		err = c.runtime.Close(context.Background())
	})
	return err
}

var errClosed = errors.New("the caller is closed")

// Describe implements [wire.Caller].
func (c *Caller) Describe(ctx context.Context) (d wire.Description, err error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	text, err := c.ask(ctx, exportDescribe, nil)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return wire.Description{}, err
	}
	return d, nil
}

// Call implements [wire.Caller].
func (c *Caller) Call(ctx context.Context, request wire.Request) (reply wire.Reply, err error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	request.SetWait(ctx)
	body, err := json.Marshal(&request)
	if err != nil {
		return wire.Reply{}, err
	}
	text, err := c.ask(ctx, exportCall, body)
	if err == nil {
		err = wire.UnmarshalReply(ctx, text, &reply)
	}
	if err != nil {
		return wire.Reply{}, err
	}
	return reply, nil
}

// limit returns a context that ends when the time of a call is over.
func (c *Caller) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no reply within %v", c.timeout))
}

// ask waits for a free instance and calls one of its functions. It returns when the context ends.
func (c *Caller) ask(ctx context.Context, function string, request []byte) ([]byte, error) {
	var s *slot
	select {
	case s = <-c.free:
	case <-c.ctx.Done():
		return nil, context.Cause(c.ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, lost, err := c.turn(s, function, request)
		c.free <- s
		done <- result{text, err}
		if lost && c.ctx.Err() == nil {
			c.onReplace(err)
		}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// turn calls a function of the instance in a slot, which starts one if necessary. An instance that fails is dropped,
// because nobody knows what state it is in.
func (c *Caller) turn(s *slot, function string, request []byte) (text []byte, lost bool, err error) {
	ctx, cancel := c.limit(c.ctx)
	defer cancel()
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	if s.instance == nil {
		if s.instance, err = c.start(ctx); err != nil {
			return nil, false, fmt.Errorf("the guest does not start: %w", err)
		}
	}
	if text, err = s.instance.ask(ctx, function, request, c.maxBytes); err != nil {
		err = s.instance.explain(ctx, err)
		s.instance.close()
		s.instance = nil
		return nil, true, err
	}
	return text, false, nil
}
