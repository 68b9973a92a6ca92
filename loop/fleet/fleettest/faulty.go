package fleettest

import (
	"context"
	"time"

	"github.com/hookgen/hookgen/loop/fleet"
)

// store returns a store as the process uses it.
func (w *process) store(s fleet.Store) fleet.Store {
	s.Log, s.Table = faultyLog{s.Log, w}, faultyTable{s.Table, w}
	if s.Queue != nil { // otherwise the engine has its own
		s.Queue = faultyQueue{s.Queue, w}
	}
	return s
}

type faultyLog struct {
	fleet.Log
	w *process
}

func (l faultyLog) Append(ctx context.Context, run string, event []byte, last uint64) (n uint64, err error) {
	err = l.w.do(func() error { n, err = l.Log.Append(ctx, run, event, last); return err })
	return n, err
}

func (l faultyLog) Read(ctx context.Context, run string, after uint64) (found []fleet.Entry, err error) {
	err = l.w.do(func() error { found, err = l.Log.Read(ctx, run, after); return err })
	return found, err
}

func (l faultyLog) Last(ctx context.Context, run string) (n uint64, err error) {
	err = l.w.do(func() error { n, err = l.Log.Last(ctx, run); return err })
	return n, err
}

type faultyTable struct {
	fleet.Table
	w *process
}

func (t faultyTable) Get(ctx context.Context, key string) (value []byte, n uint64, err error) {
	err = t.w.do(func() error { value, n, err = t.Table.Get(ctx, key); return err })
	return value, n, err
}

func (t faultyTable) Put(ctx context.Context, key string, value []byte, last uint64) error {
	return t.w.do(func() error { return t.Table.Put(ctx, key, value, last) })
}

type faultyQueue struct {
	fleet.Queue
	w *process
}

func (q faultyQueue) Put(ctx context.Context, run string) error {
	return q.w.do(func() error { return q.Queue.Put(ctx, run) })
}

func (q faultyQueue) Take(ctx context.Context) (fleet.Delivery, error) {
	d, err := q.Queue.Take(ctx)
	if err == nil {
		err = q.w.do(func() error { return nil })
	}
	if err != nil {
		return nil, err
	}
	return faultyDelivery{d, q.w}, nil
}

type faultyDelivery struct {
	fleet.Delivery
	w *process
}

func (d faultyDelivery) Renew(ctx context.Context) error {
	return d.w.do(func() error { return d.Delivery.Renew(ctx) })
}

func (d faultyDelivery) Done(ctx context.Context) error {
	return d.w.do(func() error { return d.Delivery.Done(ctx) })
}

// Return gives the run back sooner, because the storm has no minutes.
func (d faultyDelivery) Return(ctx context.Context, after time.Duration) error {
	return d.w.do(func() error { return d.Delivery.Return(ctx, after/50) })
}
