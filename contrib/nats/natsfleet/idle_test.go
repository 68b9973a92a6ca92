package natsfleet

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

var (
	idleRuns    = flag.Int("idle.runs", 0, "measure the server with this number of waiting runs, for example 100000")
	idleWorkers = flag.Int("idle.workers", 20, "the number of idle workers of -idle.runs")
)

// TestWaitingRunsCostNothing measures what waiting runs cost the server and its idle workers, which are in this
// process. Package fleet has a test that counts the operations.
func TestWaitingRunsCostNothing(t *testing.T) {
	if *idleRuns == 0 {
		t.Skip("it takes minutes; give -idle.runs 100000")
	}
	server := serve(t, t.TempDir(), embedded.SyncEvery(time.Minute))
	store, err := Open(t.Context(), connect(t, server), Config{})
	if err != nil {
		t.Fatal(err)
	}
	var reads atomic.Int64
	store.Log = countedLog{store.Log, &reads}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	for range *idleWorkers {
		w := &fleet.Worker{Store: store, Agents: clerk(looptest.NewScript())}
		all.Go(func() {
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(2 * time.Minute)
	none := cpu(t)
	js := connect(t, server).JetStream()
	for i := range *idleRuns {
		for last, event := range []string{
			fmt.Sprintf(`{"version":1,"kind":"submitted","id":"a","task":{"id":"r%d","agent":"clerk","text":"work"}}`, i),
			`{"version":1,"kind":"suspended","id":"b","doubts":[{}]}`,
		} {
			if _, err := js.PublishAsync(fmt.Sprintf("fleet.log.v1.r%d", i), []byte(event),
				jetstream.WithStallWait(time.Minute)); err != nil {
				t.Fatal(last, err)
			}
		}
	}
	<-js.PublishAsyncComplete()
	for reads.Load() < int64(*idleRuns) { // one worker reads each run once
		time.Sleep(time.Second)
	}
	time.Sleep(10 * time.Second)
	with := cpu(t)
	t.Logf("%d workers: %.2f%% of a core without runs, %.2f%% with %d waiting runs", *idleWorkers, none, with, *idleRuns)
	stop()
	all.Wait()
}

type countedLog struct {
	fleet.Log
	reads *atomic.Int64
}

func (l countedLog) Read(ctx context.Context, run string, after uint64) ([]fleet.Entry, error) {
	l.reads.Add(1)
	return l.Log.Read(ctx, run, after)
}

// cpu returns how much of a processor this process uses in two minutes, in percent.
func cpu(t *testing.T) float64 {
	t.Helper()
	runtime.GC()
	before := ticks(t)
	time.Sleep(2 * time.Minute)
	return (ticks(t) - before) / 120
}

// ticks returns the time on processors of this process, in hundredths of a second.
func ticks(t *testing.T) (n float64) {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("the system has no /proc: ", err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] {
		used, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		n += used
	}
	return n
}
