package declared

import (
	"context"
	"errors"
	"sync"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
)

// A resident is a caller for a process that is started once. It starts at the first payload. When its declaration is
// changed or unloaded, it ends as soon as it has answered all payloads.
type resident struct {
	start func() *wireexec.ProcessCaller
	name  string

	mu      sync.Mutex
	current *wireexec.ProcessCaller // nil before the first payload, and after the end
	busy    int                     // the calls that use it
	retired bool
}

// process returns a caller for the process of a declaration.
func (f *File) process(d *declaration) (*resident, error) {
	argv, options, err := f.program(d)
	if err != nil {
		return nil, err
	}
	return &resident{
		name:  argv[0],
		start: func() *wireexec.ProcessCaller { return wireexec.Process(argv, options...) },
	}, nil
}

func (r *resident) String() string { return r.name }

// Describe is not called.
func (r *resident) Describe(context.Context) (wire.Description, error) {
	return wire.Description{}, errors.ErrUnsupported
}

// Call sends the payload to the process. A fire that began before the hook was removed may call it after that. It then
// starts the process again for this call, because the hooks of a fire do not change.
func (r *resident) Call(ctx context.Context, request wire.Request) (wire.Reply, error) {
	p := r.acquire()
	defer r.release()
	return p.Call(ctx, request)
}

func (r *resident) acquire() *wireexec.ProcessCaller {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		r.current = r.start()
	}
	r.busy++
	return r.current
}

func (r *resident) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	r.endIdle()
}

// retire ends the process, after the calls that use it.
func (r *resident) retire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retired = true
	r.endIdle()
}

// endIdle ends the process if it is retired and nobody uses it.
func (r *resident) endIdle() {
	if r.retired && r.busy == 0 && r.current != nil {
		_ = r.current.Close() // it always returns nil
		r.current = nil
	}
}
