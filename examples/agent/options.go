package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// options are the values of the flags.
type options struct {
	yes, quiet, explain, later, resume        bool
	trace, audit, claude, model, store, hooks string
	otel, conversation, record, task          string
	mcp, approve, deny                        list
}

// A list is a flag that can be repeated.
type list []string

func (l *list) String() string { return fmt.Sprint(*l) }

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
	flags.BoolVar(&o.quiet, "quiet", false, "show the questions and the reply alone, and why a run stopped without one")
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
