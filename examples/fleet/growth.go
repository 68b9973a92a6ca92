package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/loop/fleet"
)

// A load is a number of worker processes and of runs that wait for them.
type load struct{ workers, queued int }

// growth returns a table of the costs of runs with more workers and with longer queues. Each load has a fleet of its
// own, from which the workers take the first runs.
func (g *gauge) growth(ctx context.Context, conn *nats.Conn, server *process, loads []load) (table string, err error) {
	table = "| queued | workers | runs a second | CPU of workers a run | CPU of the server a run | on disk a queued run " +
		"| memory of the server then |\n|---:|---:|---:|---:|---:|---:|---:|\n"
	for i, l := range loads {
		row, err := g.load(ctx, conn, server, fmt.Sprint("growth", i), l)
		if err != nil {
			return "", fmt.Errorf("%d workers, %d runs: %w", l.workers, l.queued, err)
		}
		table += row
		fmt.Fprint(g.out, row)
	}
	return table, nil
}

func (g *gauge) load(ctx context.Context, conn *nats.Conn, server *process, name string, l load) (string, error) {
	client, err := g.submitted(ctx, conn, name, l.queued)
	if err != nil {
		return "", err
	}
	defer g.remove(conn, name)
	memory := usageOf(server).memory
	stored, err := stored(ctx, conn, name)
	if err != nil {
		return "", err
	}
	var workers []*process
	for i := range l.workers {
		w := &process{s: &g.storm, role: fmt.Sprint(name, "-", i), args: []string{"worker", "-fleet", name, "-slots", "4"}}
		if err := w.start(ctx); err != nil {
			return "", err
		}
		defer w.kill()
		workers = append(workers, w)
	}
	if err := g.wait(ctx, client, 0, g.runs/4); err != nil { // the workers have started
		return "", err
	}
	used := func() (sum time.Duration) {
		for _, w := range workers {
			sum += usageOf(w).cpu
		}
		return sum
	}
	begun, by, served := time.Now(), used(), usageOf(server).cpu
	if err := g.wait(ctx, client, g.runs/4, g.runs); err != nil {
		return "", err
	}
	n := g.runs - g.runs/4
	took, by, served := time.Since(begun), used()-by, usageOf(server).cpu-served
	return fmt.Sprintf("| %d | %d | %.0f | %.2f ms | %.2f ms | %d B | %d MB |\n", l.queued, l.workers,
		float64(n)/took.Seconds(), milliseconds(by)/float64(n), milliseconds(served)/float64(n),
		stored/uint64(l.queued), memory/1_000_000), nil
}

// stored returns the bytes of the logs and of the queue of a fleet.
func stored(ctx context.Context, conn *nats.Conn, name string) (bytes uint64, err error) {
	for _, kind := range []string{"-log", "-queue"} {
		stream, err := conn.JetStream().Stream(ctx, name+kind)
		if err != nil {
			return 0, err
		}
		bytes += stream.CachedInfo().State.Bytes
	}
	return bytes, nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// remove deletes a fleet, so that the next one finds the server as this one did.
func (g *gauge) remove(conn *nats.Conn, name string) {
	for _, stream := range []string{name + "-log", name + "-queue", "KV_" + name + "-accounts"} {
		if err := conn.JetStream().DeleteStream(context.Background(), stream); err != nil {
			fmt.Fprintln(g.out, "delete", stream, err)
		}
	}
}

// A usage has the time of processors that a process has used since its start, and its bytes of memory now.
type usage struct {
	cpu    time.Duration
	memory int
}

// usageOf reads the usage of a process from /proc. It is zero where there is no such folder.
func usageOf(p *process) (u usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return usage{}
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] { // in the user's code and in the kernel, in hundredths of a second
		n, _ := strconv.Atoi(field) // the kernel writes numbers
		u.cpu += time.Duration(n) * 10 * time.Millisecond
	}
	pages, _ := strconv.Atoi(fields[21])
	u.memory = pages * os.Getpagesize()
	return u
}

// submitted opens a new fleet and submits the runs, 16 at a time, in about their order.
func (g *gauge) submitted(ctx context.Context, conn *nats.Conn, name string, runs int) (*fleet.Client, error) {
	client, err := g.client(ctx, conn, name)
	if err != nil {
		return nil, err
	}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	next := make(chan int)
	for range 16 {
		all.Go(func() {
			for i := range next {
				if err := client.Submit(ctx, g.task(i)); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	all.Wait()
	return client, errors.Join(errs...)
}
