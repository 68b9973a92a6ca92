package fleet

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/loop/looptest"
)

// A goneQueue gives no run until its time.
type goneQueue struct {
	Queue
	until time.Time
}

func (q goneQueue) Take(ctx context.Context) (Delivery, error) {
	if time.Now().Before(q.until) {
		return nil, errDown
	}
	return q.Queue.Take(ctx)
}

// TestOutageIsLoggedOnce: the server is gone for a minute, and each of the slots tries again every few seconds.
func TestOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		store.Queue = goneQueue{store.Queue, time.Now().Add(time.Minute)}
		var log bytes.Buffer
		w := &Worker{
			Store: store, Agents: clerk(looptest.NewScript(looptest.Reply("done"))), Slots: 8,
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}
		client := NewClient(store)
		if err := client.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		work(t, w, func(ctx context.Context) {
			if r, err := client.Wait(ctx, "a"); err != nil || r.State != Done {
				t.Errorf("%+v, %v", r, err)
			}
		})
		if n := strings.Count(log.String(), errDown.Error()); n != 1 || w.Stats().Errors < 100 {
			t.Errorf("%d lines about %d errors:\n%s", n, w.Stats().Errors, log.String())
		}
	})
}

// TestRequestsWaitForTheConnection: the error says that the server does not answer, and not that a buffer is full.
func TestRequestsWaitForTheConnection(t *testing.T) {
	server := serve(t, t.TempDir())
	store, err := Open(t.Context(), connect(t, server), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for ctx.Err() == nil {
		_, err = store.Queue.Take(ctx)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
