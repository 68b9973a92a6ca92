package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/contrib/nats/natsfleet"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
)

// client parses the arguments of a command and calls f with a client of the fleet.
func (p *program) client(
	ctx context.Context, args []string, least, most int, f func(c *fleet.Client, args []string) error,
) error {
	if err := p.parse(args, least, most); err != nil {
		return err
	}
	store, conn, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return f(fleet.NewClient(store), p.flags.Args())
}

func (p *program) submit(ctx context.Context, args []string) error {
	tenant := p.flags.String("tenant", "", "the `name` of the tenant")
	user := p.flags.String("as", "", "the `name` of the person that the run works for")
	return p.client(ctx, args, 2, 2, func(c *fleet.Client, args []string) error {
		task := fleet.Task{ID: args[0], Agent: "clerk", Text: args[1], Tenant: *tenant, User: *user}
		if err := c.Submit(ctx, task); err != nil {
			return err
		}
		fmt.Fprintf(p.problems, "%s is submitted; waiting for a worker to end it\n", task.ID)
		return p.wait(ctx, c, task.ID)
	})
}

// wait waits for the end of a run and prints it. Meanwhile it reports that the run waits for a person.
func (p *program) wait(ctx context.Context, c *fleet.Client, id string) error {
	var last fleet.State
	s, err := c.WaitFor(ctx, id, func(s fleet.Status) bool {
		if s.State == fleet.Suspended && s.State != last {
			describe(p.problems, s)
		}
		last = s.State
		return s.State.Final()
	})
	if err == nil {
		describe(p.out, s)
	}
	return err
}

// describe writes a run with its questions.
func describe(out io.Writer, s fleet.Status) {
	fmt.Fprintf(out, "%s is %s, %d steps, %d calls, %d tokens, cost %.4f", s.Task.ID, s.State, s.Step, s.ToolCalls,
		s.Usage.Total(), s.Usage.Cost)
	switch {
	case s.Result != nil:
		fmt.Fprintf(out, ": %q", cmp.Or(s.Result.Err, s.Result.Reply))
	case s.State == fleet.Running:
		fmt.Fprintf(out, ", worker %q", s.Worker)
	}
	fmt.Fprintln(out)
	for _, q := range s.Questions {
		fmt.Fprintf(out, "  question about %q with %q: %q\n", q.Call.Name, q.Call.Args, q.Prompt)
	}
}

func (p *program) list(ctx context.Context, args []string) error {
	return p.client(ctx, args, 0, 0, func(c *fleet.Client, _ []string) error {
		all, err := c.List(ctx)
		for _, s := range all {
			describe(p.out, s)
		}
		return err
	})
}

func (p *program) history(ctx context.Context, args []string) error {
	return p.client(ctx, args, 1, 1, func(c *fleet.Client, args []string) error {
		all, err := c.History(ctx, args[0])
		for _, e := range all {
			fmt.Fprintf(p.out, "%s %-9s by %q", e.Time.UTC().Format("2006-01-02T15:04:05.000Z"), e.Kind, e.By)
			if e.Text != "" {
				fmt.Fprintf(p.out, ": %q", e.Text)
			}
			fmt.Fprintln(p.out)
		}
		return err
	})
}

func (p *program) answer(ctx context.Context, args []string) error {
	by := p.flags.String("by", "", "the `name` of the person who answers")
	return p.client(ctx, args, 2, 3, func(c *fleet.Client, args []string) error {
		text := strings.Join(args[2:], "")
		status, err := c.Status(ctx, args[0])
		if err != nil {
			return err
		}
		if len(status.Questions) == 0 {
			return fmt.Errorf("run %q is %s and asks nothing", args[0], status.State)
		}
		var answers []fleet.Answer
		for _, q := range status.Questions {
			switch args[1] {
			case "allow":
				answers = append(answers, fleet.Decide(q, agent.Approval{Allow: true, Reason: text, By: *by}))
			case "deny":
				answers = append(answers, fleet.Decide(q, agent.Approval{Reason: text, By: *by}))
			case "retry":
				answers = append(answers, fleet.Retry(q, *by))
			case "happened":
				answers = append(answers, fleet.Happened(q, text, *by))
			case "stop":
				answers = append(answers, fleet.Stop(q, text, *by))
			default:
				return fmt.Errorf("the answer is %q; use allow, deny, retry, happened or stop", args[1])
			}
		}
		return c.Answer(ctx, args[0], answers...)
	})
}

func (p *program) cancel(ctx context.Context, args []string) error {
	return p.client(ctx, args, 1, 1, func(c *fleet.Client, args []string) error { return c.Cancel(ctx, args[0]) })
}

// demo runs a server, two workers and a client in this process.
func (p *program) demo(ctx context.Context, args []string) (err error) {
	dir := p.flags.String("dir", "", "the `directory` of the server's files (default a temporary one)")
	if err := p.parse(args, 0, 0); err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "fleet"); err != nil {
			return err
		}
		defer os.RemoveAll(*dir)
	}
	server, err := embedded.Start(*dir)
	if err != nil {
		return err
	}
	defer server.Close()
	conn, err := nats.Connect(server.URL())
	if err != nil {
		return err
	}
	defer conn.Close()
	store, err := natsfleet.Open(ctx, conn, natsfleet.Config{})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	problems := make([]error, 2)
	for i := range problems {
		w := &fleet.Worker{
			Store: store, Name: fmt.Sprint("worker", i+1), Agents: map[string]*loop.Agent{"clerk": clerk{}.agent()},
			Logger: slog.New(slog.NewTextHandler(p.problems, nil)),
		}
		workers.Go(func() { problems[i] = w.Run(working) })
	}
	err = p.demoRuns(ctx, fleet.NewClient(store))
	stop()
	workers.Wait()
	return errors.Join(append(problems, err)...)
}

// demoRuns submits three tasks and prints their results.
func (p *program) demoRuns(ctx context.Context, c *fleet.Client) error {
	for _, id := range []string{"monday", "tuesday", "wednesday"} {
		task := fleet.Task{ID: id, Agent: "clerk", Text: "pay 4 orders, 2 at a time"}
		if err := c.Submit(ctx, task); err != nil {
			return err
		}
		if err := p.wait(ctx, c, id); err != nil {
			return err
		}
	}
	return nil
}
