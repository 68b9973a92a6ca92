// Command agent runs an agent in the terminal and shows every fire, every hook that ran, and every decision with its
// reason. Without flags it works offline: the model plays a script, and the tools are Go functions. Flags replace each
// part by a real one.
//
// Usage:
//
//	go run ./examples/agent [flags] [task]
//
// The agent wants to run a command, and a hook asks you for confirmation: answer y or n, or pass -yes. With
// -h the program lists the flags with examples.
//
// Start reading in main.go. options.go has the flags, program.go connects their parts, which are in parts.go and
// spans.go. cast.go has the script, later.go the answers that come later, and screen.go and trace.go the output.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
)

func main() {
	// Ctrl-C ends the run in order, so that the store has the conversation so far.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, hasColour(os.Stdout))
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run plays one run of the agent that the arguments describe.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer, colour bool) (err error) {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	p := &program{options: o, out: out, agent: newAgent(o, in, out)}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.connect(ctx); err != nil {
		return err
	}
	if o.explain {
		return p.agent.Hooks.Explain(out)
	}
	show := &screen{out: out, paint: painter(colour)}
	if err := p.watch(show); err != nil {
		return err
	}
	request, err := p.request(ctx, show)
	if err != nil {
		return err
	}
	result, err := do(ctx, p.agent, request)
	switch {
	case errors.Is(err, loop.ErrNotStarted) && request.Suspended != nil: // put it back
		return errors.Join(err, suspend(ctx, p.database, o, *request.Suspended, out))
	case errors.Is(err, loop.ErrSuspended):
		return suspend(ctx, p.database, o, *result.Suspended, out)
	case err != nil && !errors.As(err, new(*loop.StoppedError)): // the summary has the reason of a stop
		return err
	}
	if o.quiet && err == nil {
		fmt.Fprintln(out, result.Reply)
		return nil
	}
	fmt.Fprintf(out, "\n%s %s\n", show.paint(bold, "reply"), result.Reply)
	fmt.Fprintf(out, "%s %d steps, %d tool calls, stopped by %s\n",
		show.paint(bold, "done "), result.Steps, len(result.Calls), result.Stop.Cause)
	return nil
}

// newAgent returns the agent that works offline.
func newAgent(o options, in io.Reader, out io.Writer) *loop.Agent {
	a := &loop.Agent{
		Name:         "builder",
		Instructions: "You look after a build. Be brief.",
		Model:        script(),
		Tools:        tools(),
		Hooks:        new(agent.Hooks),
		Approver:     &permission.Terminal{In: in, Out: out},
		Limits:       loop.Limits{ApprovalTime: 2 * time.Minute},
	}
	switch {
	case o.yes:
		a.Approver = everybodySaysYes{}
	case o.later:
		a.Approver = permission.Later{}
	}
	use(a.Hooks, len(o.mcp) == 0)
	return a
}

// do runs the agent. It reads a stream, so that the model streams, too. The result is nil if the run could not start.
func do(ctx context.Context, a *loop.Agent, request loop.Request) (result *agent.AgentResult, err error) {
	for event, failed := range a.Stream(ctx, request) {
		result, err = event.End, failed
	}
	return result, err
}

// use registers the hooks of this agent: ready-made ones, and two functions. run_command is one of the pretended tools.
func use(hooks *agent.Hooks, pretended bool) {
	hooks.Use(&repair.LoopDetector{})
	if pretended {
		hooks.Use(&permission.Confirm{Tools: []string{"run_command"}})
	}
	hooks.OnPermission.AddFunc(denyRemoval, hookkit.Named("denyRemoval"), hookkit.Priority(hookkit.Safety))
	hooks.Briefing.AddFunc(beBrief, hookkit.Named("beBrief"))
}

// useClaudeHooks adds the scripts of a settings file. They know the tools by their names in Claude Code.
func useClaudeHooks(hooks *agent.Hooks, path, transcripts string, out io.Writer) error {
	scripts, err := claudecode.Read(path)
	if err != nil {
		return err
	}
	scripts.Tools = map[string]claudecode.Tool{
		"run_command": {Name: "Bash"},
		"read_file":   {Name: "Read", Fields: map[string]string{"path": "file_path"}},
	}
	scripts.TranscriptDir = transcripts
	scripts.ProjectDir = filepath.Dir(path)
	if filepath.Base(scripts.ProjectDir) == ".claude" {
		scripts.ProjectDir = filepath.Dir(scripts.ProjectDir)
	}
	scripts.OnError = func(err error) { fmt.Fprintf(out, "%s: %s\n", path, clean(err.Error())) }
	scripts.Notify = func(m claudecode.Message) { fmt.Fprintf(out, "%s: %s\n", m.Event, clean(m.Text)) }
	hooks.Use(scripts)
	return nil
}

// everybodySaysYes approves every call.
type everybodySaysYes struct{}

func (everybodySaysYes) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Allow: true, Reason: "-yes was given"}, nil
}
