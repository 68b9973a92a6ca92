// Command coder is a small coding assistant for the terminal. It reads, searches and edits the files of one directory
// and runs commands there. It asks before it changes anything, and it remembers the conversation of each directory.
//
// Usage:
//
//	go run . -model openai:URL#name | anthropic:name [-dir DIR] [-store FILE] [-tokens N] [-prices FILE] [-v]
//	go run . -script
//
// With -script it works offline, with a scripted model and a directory that is removed at the end.
//
// The program is a module of its own, apart from examples/agent, so that it can be copied as a start for an assistant
// of yours. Start reading with newCoder, which puts the parts together. tools.go and search.go have the tools,
// permissions.go the rules and questions, screen.go the output, and cost.go the prices.
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
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/anthropic"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "coder:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	flags := flag.NewFlagSet("coder", flag.ContinueOnError)
	flags.SetOutput(out)
	model := flags.String("model", "", "the `MODEL`: openai:URL#name or anthropic:name; the keys are read from "+
		"OPENAI_API_KEY and ANTHROPIC_API_KEY")
	dir := flags.String("dir", ".", "the `DIRECTORY` to work in")
	file := flags.String("store", "", "the SQLite `FILE` of the conversations; the default is in your configuration "+
		"directory")
	tokens := flags.Int("tokens", 500_000, "the budget of one task in `TOKENS`")
	prices := flags.String("prices", "", "a JSON `FILE` with the prices of models, for /cost")
	verbose := flags.Bool("v", false, "also print the output of tools, and what each task used")
	script := flags.Bool("script", false, "play a demonstration offline")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *script {
		demo, err := os.MkdirTemp("", "coder")
		if err != nil {
			return err
		}
		defer os.RemoveAll(demo)
		if err := os.WriteFile(filepath.Join(demo, "greeting.txt"), []byte("Helo, world!\n"), 0o600); err != nil {
			return err
		}
		*dir, *file = demo, filepath.Join(demo, ".coder.db")
	}
	if *file == "" {
		configuration, err := os.UserConfigDir()
		if err != nil {
			return err
		}
		*file = filepath.Join(configuration, "hookgen-coder", "sessions.db")
	}
	db, err := sqlite.Open(*file, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	space, err := openWorkspace(*dir)
	if err != nil {
		return err
	}
	defer space.root.Close()
	m := demonstration()
	if !*script {
		if m, err = parseModel(*model); err != nil {
			return err
		}
	}
	known, err := readPrices(*prices)
	if err != nil {
		return err
	}
	t := newTerminal(in, out)
	t.verbose = *verbose
	c := newCoder(m, space, sqlite.Sessions{DB: db}, t)
	c.price(known)
	c.agent.Limits.Tokens = *tokens
	return c.talk(ctx)
}

func parseModel(flag string) (agent.Model, error) {
	provider, rest, _ := strings.Cut(flag, ":")
	i := strings.LastIndex(rest, "#")
	switch {
	case provider == "openai" && i >= 0 && i < len(rest)-1:
		key := func() string { return os.Getenv("OPENAI_API_KEY") }
		return &openai.Model{URL: rest[:i], Name: rest[i+1:], Key: key}, nil
	case provider == "anthropic" && rest != "":
		return &anthropic.Model{Name: rest, Key: func() string { return os.Getenv("ANTHROPIC_API_KEY") }}, nil
	}
	return nil, fmt.Errorf("-model %q: want openai:URL#name or anthropic:name; or try -script", flag)
}

// A coder is a conversation about a directory.
type coder struct {
	agent    *loop.Agent
	space    *workspace
	files    *session.Files
	sessions sqlite.Sessions
	identity agent.Identity
	terminal *terminal
	prices   map[string]observe.Price
	used     map[string]agent.Usage // by model, since the start of the program
	// interruptible returns a context that ends when the user presses Ctrl-C.
	interruptible func(context.Context) (context.Context, context.CancelFunc)
}

const instructions = `You are a coding assistant in a terminal. You work in one directory; paths are relative to it.
Read a file before you edit it. Make small changes, check them, and say in a few words what you did.`

func newCoder(model agent.Model, space *workspace, sessions sqlite.Sessions, t *terminal) *coder {
	hooks := new(agent.Hooks)
	protect(hooks, space.dir)
	hooks.Use(&session.Persist{Store: sessions})
	files := &session.Files{Dir: space.dir, Tools: []string{"edit", "write"}}
	hooks.Use(files)
	hooks.Use(&retry.Model{})
	hooks.Use(&window.TruncateOutput{})
	hooks.Use(&window.Auto{Compactor: &window.Default{}})
	return &coder{
		agent: &loop.Agent{
			Name: "coder", Instructions: instructions, Model: model, Tools: space.tools(), Hooks: hooks,
			Approver: &approver{terminal: t, space: space},
			Limits:   loop.Limits{ApprovalTime: time.Hour},
		},
		space:    space,
		files:    files,
		sessions: sessions,
		identity: agent.Identity{Conversation: space.dir},
		terminal: t,
		used:     make(map[string]agent.Usage),
		interruptible: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return signal.NotifyContext(ctx, os.Interrupt)
		},
	}
}

const help = `Type a task. Ctrl-C interrupts it and keeps the conversation.
  /new     forget the conversation of this directory
  /undo    take back the last change of a file
  /rewind  go back to the files and the conversation before the last task
  /cost    show what the models have used
  /help    this text
  /quit    leave
`

// talk reads tasks and commands until the user leaves.
func (c *coder) talk(ctx context.Context) error {
	session, err := c.sessions.Load(ctx, c.identity)
	switch {
	case err == nil:
		c.terminal.printf("The conversation has %d messages. /new begins another one, /help has more.\n",
			len(session.Messages))
	case errors.As(err, new(*agent.NotFound)):
		c.terminal.printf("%s", help)
	default:
		return err
	}
	for {
		c.terminal.printf("\n> ")
		line, err := c.terminal.read(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch line {
		case "":
		case "/quit":
			return nil
		case "/help":
			c.terminal.printf("%s", help)
		case "/new":
			if err := c.sessions.Delete(ctx, c.identity); err != nil {
				return err
			}
			c.terminal.printf("This is a new conversation.\n")
		case "/cost":
			c.terminal.printf("%s", c.cost())
		case "/undo":
			c.terminal.printf("%s\n", c.space.undo())
		case "/rewind":
			c.terminal.printf("%s\n", c.rewind(ctx))
		default:
			if strings.HasPrefix(line, "/") {
				c.terminal.printf("There is no command %s.\n%s", clean(line), help)
				continue
			}
			c.work(ctx, line)
		}
	}
}

// rewind goes back to the state before the last task since the start of the program.
func (c *coder) rewind(ctx context.Context) string {
	marks := c.files.Marks(c.identity)
	if len(marks) == 0 {
		return "There is no task to take back."
	}
	mark, err := c.files.Rewind(c.identity, marks[len(marks)-1].Run)
	err = errors.Join(err, c.sessions.Save(ctx, agent.Session{Identity: c.identity, Messages: mark.Messages}))
	c.space.forget()
	text := "The files and the conversation are as before: " + mark.Task
	for _, missed := range mark.Missed {
		text += "\nnot kept: " + missed
	}
	if err != nil {
		text += "\n" + err.Error()
	}
	return clean(text)
}

// work runs a task and shows it. A failure does not end the conversation.
func (c *coder) work(ctx context.Context, task string) {
	ctx, stop := c.interruptible(ctx)
	defer stop()
	defer c.terminal.rest()
	request := loop.Request{Task: task, Conversation: c.identity.Conversation}
	for event, err := range c.agent.Stream(ctx, request) {
		c.terminal.show(event)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			c.terminal.printf("\nInterrupted. The conversation is kept.\n")
		case errors.As(err, new(*loop.StoppedError)):
			c.terminal.printf("\nThe task is not done: %s\n", clean(err.Error()))
		default:
			c.terminal.printf("\nThe task failed: %s\n", clean(err.Error()))
		}
		if event.End != nil {
			for name, usage := range event.End.UsageByModel {
				c.used[name] = c.used[name].Plus(usage)
			}
			c.terminal.budget(*event.End, c.agent.Limits)
		}
	}
}
