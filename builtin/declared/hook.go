package declared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A declared is the hook of one declaration with the options of its Use.
type declared struct {
	hook    agent.Hook
	options []hookkit.UseOption
	process *resident // nil for hooks of other kinds
}

// make makes the hook of the declaration.
func (f *File) make(d *declaration) (declared, error) {
	if d.kind == "use" {
		return f.ready(d)
	}
	var caller wire.Caller
	var process *resident
	var err error
	switch d.kind {
	case "command":
		caller, err = f.command(d)
	case "process":
		process, err = f.process(d)
		caller = process
	case "url":
		caller, err = f.endpoint(d)
	case "prompt":
		caller, err = f.prompt(d)
	}
	if err != nil {
		return declared{}, err
	}
	hook, err := (&supervised{file: f, d: d, caller: caller}).hook()
	if err != nil {
		return declared{}, d.at.errorf("%w", err)
	}
	priority := hookkit.Safety
	if d.priority != nil {
		priority = *d.priority
	}
	options := []hookkit.UseOption{hookkit.Named(d.name), hookkit.Priority(priority)}
	if d.refuse {
		options = append(options, hookkit.FailClosed())
	}
	return declared{selective{hook, d}, options, process}, nil
}

// A selective hook is asked about the tools of its declaration.
type selective struct {
	agent.Hook
	d *declaration
}

// Bind adds the hook, and reports tools that no agent has.
func (s selective) Bind(h *agent.Hooks) {
	s.Hook.Bind(h)
	kit.WatchTools(s.d.name, kit.ToolNames("tools", s.d.match.tools)...).AtStart(h)
}

// A supervised caller asks only about selected payloads, and explains failures.
type supervised struct {
	file   *File
	d      *declaration
	caller wire.Caller
	undescribed
}

// undescribed is embedded in callers. Describe is not called, because the declaration names the points.
type undescribed struct{}

func (undescribed) Describe(context.Context) (wire.Description, error) {
	return wire.Description{}, errors.ErrUnsupported
}

// hook returns a hook at the declared points.
func (s *supervised) hook() (agent.Hook, error) {
	if _, ok := s.caller.(*judge); ok {
		return judged{s}, nil
	}
	names := make([]string, len(s.d.points))
	for i, p := range s.d.points {
		names[i] = p.Name
	}
	return agent.Remote(context.Background(), s, wire.Points(names...))
}

// Call asks the command, the process, the endpoint or the model.
func (s *supervised) Call(ctx context.Context, request wire.Request) (wire.Reply, error) {
	proceed := wire.Reply{Decision: wire.Continue}
	if !s.d.match.selects(request.Payload) {
		return proceed, nil
	}
	begun := time.Now()
	reply, err := s.caller.Call(ctx, request)
	if err == nil {
		err = s.check(request.Point, reply)
	}
	if err == nil {
		return reply, nil
	}
	err = &wire.CallError{
		Service: fmt.Sprintf("%v (%v)", s.d, s.caller), Point: request.Point, Elapsed: time.Since(begun), Err: err,
	}
	if s.d.proceed && ctx.Err() == nil {
		s.file.failed.Report("declared.File", s.file.OnError, err)
		return proceed, nil
	}
	return wire.Reply{}, err
}

// check returns an error for a reply that is a failure or illegal at the point.
func (s *supervised) check(point string, reply wire.Reply) error {
	if reply.Error != "" {
		return fmt.Errorf("it replied with the error %.500q", reply.Error)
	}
	if reply.Decision == wire.Patch {
		return nil // the remote hook applies it, and refuses one that is illegal
	}
	for _, p := range s.d.points {
		if p.Name == point {
			_, err := reply.Read(p)
			return err
		}
	}
	return fmt.Errorf("it was not declared at %s", point)
}
