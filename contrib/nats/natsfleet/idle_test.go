package natsfleet

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/internal/servertest"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

var (
	idleRuns    = flag.Int("idle.runs", 0, "measure the server with this number of waiting runs, for example 100000")
	idleWorkers = flag.Int("idle.workers", 20, "the number of idle workers of -idle.runs")
)

// TestWaitingRunsCostNothing measures what waiting runs cost the server, which is a process of its own, and its idle
// workers, which are in this process. Package fleet has a test that counts the operations.
func TestWaitingRunsCostNothing(t *testing.T) {
	if *idleRuns == 0 {
		t.Skip("it takes minutes; give -idle.runs 100000")
	}
	file := filepath.Join(t.TempDir(), "server.conf")
	const conf = "listen: \"127.0.0.1:-1\"\nauthorization { user: fleet, password: secret }\n" +
		"jetstream { sync_interval: 1m }\n"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	server := servertest.Start(t, t.TempDir(), file)
	conn, err := nats.Connect(server.URL, nats.Password("fleet", "secret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	store, err := Open(t.Context(), conn, Config{})
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
	none := cpu(t, server.ID())
	js := conn.JetStream()
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
	with := cpu(t, server.ID())
	t.Logf("%d workers: the server uses %.2f%% of a core without runs and %.2f%% with %d waiting runs, the workers "+
		"together %.2f%% and %.2f%%", *idleWorkers, none[0], with[0], *idleRuns, none[1], with[1])
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

// cpu returns how much of a processor the server and this process use in two minutes, in percent.
func cpu(t *testing.T, server int) (percent [2]float64) {
	t.Helper()
	runtime.GC()
	processes := [2]int{server, os.Getpid()}
	for i, process := range processes {
		percent[i] = -ticks(t, process)
	}
	time.Sleep(2 * time.Minute)
	for i, process := range processes {
		percent[i] = (percent[i] + ticks(t, process)) / 120
	}
	return percent
}

// ticks returns the time on processors of a process, in hundredths of a second.
func ticks(t *testing.T, process int) (n float64) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
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
