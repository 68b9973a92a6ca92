package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
)

// worker runs a worker until ctx is done. Then it finishes the current steps and gives its runs back.
func (p *program) worker(ctx context.Context, args []string) error {
	listen := p.flags.String("http", "", "the `address` of /healthz, /readyz and /metrics; \"\": none")
	slots := p.flags.Int("slots", 0, "the `number` of runs at the same time (default 4)")
	name := p.flags.String("name", "", "the `name` of the worker (default the machine and the process)")
	ledger := p.flags.String("ledger", "", "the `file` of the payments")
	takes := p.flags.Duration("takes", 0, "the `time` that a payment takes at most")
	calls := p.flags.Int("tenant-calls", 0, "the `number` of model calls of each tenant; 0: no limit")
	small := p.flags.Int("small-calls", 0, "the `number` of model calls of the tenant small, if -tenant-calls is set")
	service := p.flags.String("hooks", "", "the `subject` of a service of remote hooks; \"\": none")
	events := p.flags.String("events", "", "the `name` of the stream for records; \"\": none")
	if err := p.parse(args, 0, 0); err != nil {
		return err
	}
	store, conn, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	a := clerk{*ledger, *takes}.agent()
	a.Hooks = new(agent.Hooks)
	if *service != "" {
		caller := nats.NewCaller(conn, *service, nats.Timeout(2*time.Second))
		guard, err := agent.Remote(ctx, caller, wire.Points("BeforeTool"))
		if err != nil {
			return err
		}
		a.Hooks.Use(guard)
	}
	if *events != "" {
		sink, err := conn.Events(ctx, *events, nats.EventLimits{})
		if err != nil {
			return err
		}
		a.Hooks.ObserveAny(agent.Record(sink))
	}
	if *name == "" {
		host, _ := os.Hostname() // without a name, the process has its number
		*name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	w := &fleet.Worker{
		Store: store, Slots: *slots, Name: *name, Agents: map[string]*loop.Agent{"clerk": a},
		Accounts: accounts(*calls, *small), Logger: slog.New(slog.NewTextHandler(p.problems, nil)),
	}
	if *listen != "" {
		stop, address, err := serveHealth(*listen, health{worker: w, conn: conn, draining: ctx})
		if err != nil {
			return err
		}
		defer stop()
		fmt.Fprintf(p.out, "http://%s\n", address)
	}
	fmt.Fprintf(p.out, "working as %s, process %d\n", *name, os.Getpid())
	return w.Run(ctx)
}

// accounts returns the accounts of tasks: one for each tenant.
func accounts(calls, small int) func(fleet.Task) []fleet.Account {
	if calls <= 0 {
		return nil
	}
	return func(t fleet.Task) []fleet.Account {
		limit := fleet.Amount{Calls: calls}
		if t.Tenant == "small" && small > 0 {
			limit.Calls = small
		}
		return []fleet.Account{{Name: "tenant " + t.Tenant, Limit: limit}}
	}
}

// A health answers requests about a worker.
type health struct {
	worker   *fleet.Worker
	conn     *nats.Conn
	draining context.Context
}

// serveHealth serves /healthz, /readyz and /metrics.
func serveHealth(listen string, h health) (stop func(), address string, err error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", h.ready)
	mux.HandleFunc("GET /metrics", h.metrics)
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("the health server has stopped", "error", err)
		}
	}()
	return func() {
		_ = server.Close() // the listener closes with the process in any case
		<-done
	}, l.Addr().String(), nil
}

// ready reports whether the worker takes runs.
func (h health) ready(w http.ResponseWriter, _ *http.Request) {
	if problem := problem(h.draining.Err() != nil, h.conn.Client().IsConnected(), h.worker.Stats()); problem != "" {
		http.Error(w, problem, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// problem returns why a worker makes no progress, or "".
func problem(draining, connected bool, stats fleet.Stats) string {
	switch {
	case draining:
		return "the worker stops"
	case !connected:
		return "the server is not connected"
	case stats.Waiting > 0:
		return "the store takes no change; it may be full"
	}
	return ""
}

// metrics prints the counts of the worker as Prometheus reads them.
func (h health) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	stats := reflect.ValueOf(h.worker.Stats())
	for i := range stats.NumField() {
		name := strings.ToLower(stats.Type().Field(i).Name)
		kind := "counter"
		if name == "running" || name == "waiting" {
			name, kind = "fleet_"+name, "gauge"
		} else {
			name = "fleet_" + name + "_total"
		}
		fmt.Fprintf(w, "# TYPE %s %s\n%s %d\n", name, kind, name, stats.Field(i).Int())
	}
}

// hooks serves a remote hook that lets every call pass.
func (p *program) hooks(ctx context.Context, args []string) error {
	subject := p.flags.String("subject", "hooks.fleet", "the `subject` of the service")
	if err := p.parse(args, 0, 0); err != nil {
		return err
	}
	conn, err := p.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	var h agent.Hooks
	h.BeforeTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return nil, nil
	})
	service, err := nats.Serve(conn, *subject, agent.Serve(&h, nil), nats.Queue("hooks"))
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "serving hooks on %s\n", *subject)
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return service.Close(end)
}
