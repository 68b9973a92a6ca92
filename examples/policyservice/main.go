// Command policyservice serves hooks over HTTP: the policy of an organization, in a process of its own. The agents that
// ask it can be any number, on any machine, and their programs need no change when the policy changes.
//
// Usage:
//
//	go run ./examples/policyservice [-addr HOST:PORT] [-log FILE]
//
// An agent asks it with two lines:
//
//	policy, err := agent.Remote(ctx, wirehttp.NewCaller("http://localhost:8484/hooks"))
//	hooks.Use(policy, hookkit.Timeout(2*time.Second))
//
// OnPermission is FailClosed, so an agent runs no tool while the service is down. Briefing is FailOpen, so its prompts
// are sent without the text of the service.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "policyservice:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("policyservice", flag.ContinueOnError)
	flags.SetOutput(out)
	addr := flags.String("addr", "localhost:8484", "listen on `HOST:PORT`")
	logFile := flags.String("log", "", "append each decision to `FILE`, as JSON lines")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p := &policy{log: out}
	if *logFile != "" {
		f, err := os.OpenFile(*logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		p.log = f
	}
	var hooks agent.Hooks
	hooks.Use(p)
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "listening on http://%s/hooks\n", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/hooks", wirehttp.NewHandler(agent.Serve(&hooks, nil)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(listener) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
		return server.Shutdown(context.WithoutCancel(ctx))
	}
}

// policy permits deployments to test environments only.
type policy struct {
	mu  sync.Mutex
	log io.Writer
}

// Bind adds the policy to its points.
func (p *policy) Bind(h *agent.Hooks) {
	h.OnPermission.Add(p)
	h.Briefing.Add(p)
}

// OnPermission decides about a call. The environment "slow" takes as long as a person would.
func (p *policy) OnPermission(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.OnPermissionOutcome, error) {
	var args struct{ Env string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return nil, err
	}
	if args.Env == "slow" {
		if err := p.decided(run.ID(), call.ID, "waiting"); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if args.Env != "test" {
		return agent.Deny{Reason: "only test environments"}, p.decided(run.ID(), call.ID, "denied")
	}
	return agent.Allow{}, p.decided(run.ID(), call.ID, "allowed")
}

// Briefing gives the model the policy in words.
func (p *policy) Briefing(context.Context, *agent.Run, agent.Step) ([]string, error) {
	return []string{"Deploy to test environments only."}, nil
}

// decided writes one line of the log. A decision that cannot be logged is a failure, and so a denial.
func (p *policy) decided(run, call, decision string) error {
	line, err := json.Marshal(map[string]string{"run": run, "call": call, "decision": decision})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err = p.log.Write(append(line, '\n'))
	return err
}
