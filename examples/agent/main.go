// Command agent runs a scripted agent in the terminal and shows every fire, every hook that ran, and every
// decision with its reason. It works offline: the model plays a script, and the tools are Go functions.
//
// Usage:
//
//	go run ./examples/agent [-yes] [-explain] [-trace FILE] [-audit FILE] [-claude-settings FILE]
//
// The agent wants to run a command, and a hook asks you for confirmation: answer y or n, or pass -yes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hookgen/hookgen/builtin/claudecode"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
)

func main() {
	ctx := context.Background()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, hasColour(os.Stdout))
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer, colour bool) error {
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(out)
	yes := flags.Bool("yes", false, "confirm what the agent asks to confirm")
	explain := flags.Bool("explain", false, "show the hooks of every point, in firing order and why, and run nothing")
	traceFile := flags.String("trace", "", "write every hook and every fire to `FILE`, as JSON lines")
	auditFile := flags.String("audit", "", "keep an audit log in `FILE`")
	claudeSettings := flags.String("claude-settings", "", "run the hooks of a settings `FILE` of Claude Code")
	if err := flags.Parse(args); err != nil {
		return err
	}

	hooks := new(agent.Hooks)
	use(hooks)
	if *auditFile != "" {
		hooks.Use(&record.Audit{Path: *auditFile})
	}
	if *claudeSettings != "" {
		transcripts, err := os.MkdirTemp("", "agent")
		if err != nil {
			return err
		}
		defer os.RemoveAll(transcripts)
		if err := useClaudeHooks(hooks, *claudeSettings, transcripts, out); err != nil {
			return err
		}
	}
	if *explain {
		return hooks.Explain(out)
	}

	show := &screen{out: out, paint: painter(colour)}
	hooks.Trace(show)
	if *traceFile != "" {
		f, err := os.OpenFile(*traceFile, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := &jsonLines{out: f}
		hooks.Trace(lines)
		defer func() {
			if lines.err != nil {
				fmt.Fprintln(out, "the trace is incomplete:", lines.err)
			}
		}()
	}
	hooks.ObserveAny(show, hookkit.Named("screen"))

	var approver agent.Approver = &permission.Terminal{In: in, Out: out}
	if *yes {
		approver = everybodySaysYes{}
	}
	a := &loop.Agent{
		Name:         "builder",
		Instructions: "You look after a build. Be brief.",
		Model:        script(),
		Tools:        tools(),
		Hooks:        hooks,
		Approver:     approver,
		Limits:       loop.Limits{ApprovalTime: 2 * time.Minute},
	}
	task := "The build is slow. Find out why, and say what to do."
	fmt.Fprintf(out, "%s %s\n\n", show.paint(bold, "task"), task)
	result, err := a.Run(ctx, task)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s %s\n", show.paint(bold, "reply"), result.Reply)
	fmt.Fprintf(out, "%s %d steps, %d tool calls, stopped by %s\n",
		show.paint(bold, "done "), result.Steps, len(result.Calls), result.Stop.Cause)
	return nil
}

// use registers the hooks of this agent: two ready-made ones, and two functions.
func use(hooks *agent.Hooks) {
	hooks.Use(&repair.LoopDetector{})
	hooks.Use(&permission.Confirm{Tools: []string{"run_command"}})
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
	if scripts.ProjectDir, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return err
	}
	for _, ignored := range scripts.Ignored {
		fmt.Fprintf(out, "%s: %s has no effect here\n", path, ignored)
	}
	scripts.Notify = func(m claudecode.Message) { fmt.Fprintf(out, "%s: %s\n", m.Event, m.Text) }
	hooks.Use(scripts)
	return nil
}

// everybodySaysYes approves every call.
type everybodySaysYes struct{}

func (everybodySaysYes) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Allow: true, Reason: "-yes was given"}, nil
}
