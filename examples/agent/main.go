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
// Start reading in main.go. cast.go has the script, parts.go the real parts, later.go the answers that come later, and
// screen.go, spans.go and trace.go the output.
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

	"github.com/hookgen/hookgen/builtin/claudecode"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
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

// options are the values of the flags.
type options struct {
	yes, explain, later, resume               bool
	trace, audit, claude, model, store, hooks string
	otel, conversation, record, task          string
	mcp, approve, deny                        list
}

// A list is a flag that can be repeated.
type list []string

func (l *list) String() string         { return fmt.Sprint(*l) }
func (l *list) Set(value string) error { *l = append(*l, value); return nil }

const examples = `
Examples:
  agent -yes
        the script, without questions
  agent -yes -record run.jsonl && hooklog show run.jsonl
        the same, with a record of every fire
  agent -model openai:http://localhost:11434/v1#qwen3 -mcp "npx -y @modelcontextprotocol/server-filesystem ." \
        "Which files are here?"
        a model and tools of your machine
  agent -model anthropic:claude-sonnet-4-5 -store agent.db -later "Rebuild the cache."
        store questions instead of asking them; the program ends
  agent -model anthropic:claude-sonnet-4-5 -store agent.db -resume -approve ID
        answer a question of the stored run, and continue it

The keys of models are read from OPENAI_API_KEY and ANTHROPIC_API_KEY.
`

func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("agent", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprint(out, "Usage: agent [flags] [task]\n\n")
		flags.PrintDefaults()
		fmt.Fprint(out, examples)
	}
	flags.BoolVar(&o.yes, "yes", false, "confirm what the agent asks to confirm")
	flags.BoolVar(&o.explain, "explain", false,
		"show the hooks of every point, in firing order and why, and run nothing")
	flags.StringVar(&o.trace, "trace", "", "write every hook and every fire to `FILE`, as JSON lines")
	flags.StringVar(&o.audit, "audit", "", "keep an audit log in `FILE`")
	flags.StringVar(&o.record, "record", "", "append a record of every fire to `FILE`, without secrets; see hooklog")
	flags.StringVar(&o.claude, "claude-settings", "", "run the hooks of a settings `FILE` of Claude Code")
	flags.StringVar(&o.model, "model", "", "ask a `MODEL`: openai:URL#name or anthropic:name, instead of the script")
	flags.Var(&o.mcp, "mcp", "use the tools of the MCP server that `COMMAND` starts, instead of the pretended ones; "+
		"their names begin with mcp__, those of a second server with mcp2__; words are separated by blanks, and no shell "+
		"reads them; can be repeated")
	flags.StringVar(&o.store, "store", "", "keep conversations, checkpoints, memory and an audit log in a SQLite `FILE`")
	flags.StringVar(&o.hooks, "hooks", "", "add the hooks that a JSON `FILE` declares")
	flags.StringVar(&o.otel, "otel", "", "where to print the OpenTelemetry spans of the run; the only value is `stdout`")
	flags.StringVar(&o.conversation, "conversation", "default", "the `NAME` of the conversation in the store")
	flags.BoolVar(&o.later, "later", false, "store questions instead of asking them, and end; needs -store")
	flags.BoolVar(&o.resume, "resume", false, "continue the suspended or interrupted run of the conversation")
	flags.Var(&o.approve, "approve", "with -resume, approve the call of the question `ID`; can be repeated")
	flags.Var(&o.deny, "deny", "with -resume, deny the call of the question `ID`; can be repeated")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 1:
		return o, fmt.Errorf("there are %d arguments; put the task in quotes, after the flags", flags.NArg())
	case o.store == "" && (o.later || o.resume):
		return o, errors.New("-later and -resume need a -store")
	case !o.resume && len(o.approve)+len(o.deny) > 0:
		return o, errors.New("-approve and -deny need -resume")
	case o.otel != "" && o.otel != "stdout":
		return o, fmt.Errorf("-otel %s: the only value is stdout", o.otel)
	case o.conversation == "":
		return o, errors.New("-conversation needs a name")
	}
	o.task = flags.Arg(0)
	return o, nil
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer, colour bool) (err error) {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	hooks := new(agent.Hooks)
	a := &loop.Agent{
		Name:         "builder",
		Instructions: "You look after a build. Be brief.",
		Model:        script(),
		Tools:        tools(),
		Hooks:        hooks,
		Approver:     &permission.Terminal{In: in, Out: out},
		Limits:       loop.Limits{ApprovalTime: 2 * time.Minute},
	}
	switch {
	case o.yes:
		a.Approver = everybodySaysYes{}
	case o.later:
		a.Approver = everybodyAnswersLater{}
	}
	use(hooks)
	if o.audit != "" {
		hooks.Use(&record.Audit{Path: o.audit})
	}
	if o.claude != "" {
		transcripts, err := os.MkdirTemp("", "agent")
		if err != nil {
			return err
		}
		defer os.RemoveAll(transcripts)
		if err := useClaudeHooks(hooks, o.claude, transcripts, out); err != nil {
			return err
		}
	}
	if o.hooks != "" {
		if err := useDeclaredHooks(hooks, o.hooks); err != nil {
			return err
		}
	}
	if o.model != "" {
		if err := useModel(a, o.model); err != nil {
			return err
		}
	}
	if len(o.mcp) > 0 {
		end, err := useServers(ctx, a, o.mcp, out)
		defer end()
		if err != nil {
			return err
		}
	}
	var store sqlite.Store
	if o.store != "" {
		db, failed := sqlite.Open(o.store, sqlite.Options{})
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		store.DB = db
		useStore(a, db, o.resume)
	}
	if o.otel != "" {
		defer printSpans(hooks, o.model, out)()
	}
	if o.explain {
		return hooks.Explain(out)
	}

	show := &screen{out: out, paint: painter(colour)}
	hooks.Trace(show)
	if o.trace != "" {
		f, err := os.OpenFile(o.trace, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
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
	if o.record != "" {
		log, failed := wire.OpenLog(o.record, wire.Rotate(100<<20, 5), wire.Redact(new(redact.Redactor).JSON))
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		hooks.ObserveAny(agent.Record(log), hookkit.Named("record"))
	}

	request := loop.Request{Task: o.task}
	if o.store != "" {
		request.Conversation = o.conversation
		if request, err = stored(ctx, store, o, a.Approver, out); err != nil {
			return err
		}
	}
	switch {
	case request.Suspended != nil:
		fmt.Fprintf(out, "%s %s\n\n", show.paint(bold, "resumed"), request.Suspended.ID)
	case request.Task == "":
		request.Task = "The build is slow. Find out why, and say what to do."
		fallthrough
	default:
		fmt.Fprintf(out, "%s %s\n\n", show.paint(bold, "task"), request.Task)
	}
	result, err := do(ctx, a, request)
	switch {
	case errors.Is(err, loop.ErrNotStarted) && request.Suspended != nil: // put it back
		return errors.Join(err, suspend(ctx, store, o, *request.Suspended, out))
	case err != nil:
		return err
	case result.Suspended != nil:
		return suspend(ctx, store, o, *result.Suspended, out)
	}
	fmt.Fprintf(out, "\n%s %s\n", show.paint(bold, "reply"), result.Reply)
	fmt.Fprintf(out, "%s %d steps, %d tool calls, stopped by %s\n",
		show.paint(bold, "done "), result.Steps, len(result.Calls), result.Stop.Cause)
	return nil
}

// do runs the agent. It reads a stream, so that the model streams, too. The result is nil if the run could not start.
func do(ctx context.Context, a *loop.Agent, request loop.Request) (result *agent.AgentResult, err error) {
	for event, failed := range a.Stream(ctx, request) {
		result, err = event.End, failed
	}
	return result, err
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
