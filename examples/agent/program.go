package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/loop"
)

// A program is the agent with the parts that the flags have chosen.
type program struct {
	options
	out      io.Writer
	agent    *loop.Agent
	database sqlite.Store // without a DB if there is no -store
	ends     []func() error
}

// close closes the parts, the last one first.
func (p *program) close() (err error) {
	for _, end := range slices.Backward(p.ends) {
		err = errors.Join(err, end())
	}
	return err
}

// connect replaces the parts of the agent by those of the flags, and adds their hooks.
func (p *program) connect(ctx context.Context) error {
	hooks := p.agent.Hooks
	if p.audit != "" {
		hooks.Use(&record.Audit{Path: p.audit})
	}
	if p.claude != "" {
		transcripts, err := os.MkdirTemp("", "agent")
		if err != nil {
			return err
		}
		p.ends = append(p.ends, func() error { return os.RemoveAll(transcripts) })
		if err := useClaudeHooks(hooks, p.claude, transcripts, p.out); err != nil {
			return err
		}
	}
	if p.hooks != "" {
		if err := useDeclaredHooks(hooks, p.hooks); err != nil {
			return err
		}
	}
	if p.model != "" {
		if err := useModel(p.agent, p.model); err != nil {
			return err
		}
	}
	if len(p.mcp) > 0 {
		end, err := useServers(ctx, p.agent, p.mcp, p.out)
		p.ends = append(p.ends, func() error { end(); return nil })
		if err != nil {
			return err
		}
	}
	if p.store != "" {
		db, err := sqlite.Open(p.store, sqlite.Options{})
		if err != nil {
			return err
		}
		p.ends = append(p.ends, db.Close)
		p.database.DB = db
		useStore(p.agent, db, p.resume)
	}
	if p.otel != "" {
		end := printSpans(hooks, p.model, p.out)
		p.ends = append(p.ends, func() error { end(); return nil })
	}
	return nil
}

// watch shows the run on the screen, and writes its trace and record if the flags name files.
func (p *program) watch(show *screen) error {
	hooks := p.agent.Hooks
	if !p.quiet {
		hooks.Trace(show)
		hooks.ObserveAny(show, hookkit.Named("screen"))
	}
	if p.trace != "" {
		f, err := os.OpenFile(p.trace, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		lines := &jsonLines{out: f}
		hooks.Trace(lines)
		p.ends = append(p.ends, f.Close, func() error {
			if lines.err != nil {
				fmt.Fprintln(p.out, "the trace is incomplete:", lines.err)
			}
			return nil
		})
	}
	if p.record != "" {
		log, err := hooklog.Open(p.record, hooklog.Rotate(100<<20, 5), hooklog.Redact(new(redact.Redactor).JSON))
		if err != nil {
			return err
		}
		p.ends = append(p.ends, log.Close)
		hooks.ObserveAny(agent.Record(log), hookkit.Named("record"))
	}
	return nil
}

// request returns the request for the task, or for the run of the store that is resumed, and announces it.
func (p *program) request(ctx context.Context, show *screen) (request loop.Request, err error) {
	request.Task = p.task
	if p.database.DB != nil {
		if request, err = stored(ctx, p.database, p.options, p.agent.Approver, p.out); err != nil {
			return request, err
		}
	}
	if request.Suspended != nil {
		fmt.Fprintf(p.out, "%s %s\n\n", show.paint(bold, "resumed"), request.Suspended.ID)
		return request, nil
	}
	if request.Task == "" {
		request.Task = "The build is slow. Find out why, and say what to do."
	}
	if !p.quiet {
		fmt.Fprintf(p.out, "%s %s\n\n", show.paint(bold, "task"), request.Task)
	}
	return request, nil
}
