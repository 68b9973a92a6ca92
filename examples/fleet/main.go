// Fleet runs agents on many workers. It is one program with a command for each part:
//
//	fleet demo                     a server, two workers and a client in this process
//	fleet server -dir DIR          a NATS server of its own
//	fleet worker                   a worker, with health and metrics at -http
//	fleet hooks                    a service of remote hooks that the workers ask
//	fleet submit ID TEXT           submits a task and prints its result
//	fleet list                     prints all runs
//	fleet history ID               prints the events of a run
//	fleet answer ID ANSWER [TEXT]  answers the questions of a run: allow, deny, retry, happened, stop
//	fleet cancel ID                ends a run
//	fleet chaos                    kills workers, hooks and the server during many runs, and checks the promises
//	fleet throughput               measures what a step and a run cost, and how that grows with workers and runs
//
// Each flag can also be given by the environment: -server by FLEET_SERVER, -tls-ca by FLEET_TLS_CA. The password is
// read from FLEET_PASSWORD alone, because other users of the machine can see arguments.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/natsfleet"
	"github.com/hookgen/hookgen/loop/fleet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// A program is what all commands share.
type program struct {
	env      func(string) string
	out      io.Writer
	problems io.Writer
	flags    *flag.FlagSet

	server, name, user, creds, nkey, inbox, ca, cert, key *string
}

// commands are the parts of the program by name.
var commands = map[string]func(p *program, ctx context.Context, args []string) error{
	"demo": (*program).demo, "server": (*program).serve, "worker": (*program).worker, "hooks": (*program).hooks,
	"submit": (*program).submit, "list": (*program).list, "history": (*program).history, "answer": (*program).answer,
	"cancel": (*program).cancel, "chaos": (*program).chaos, "throughput": (*program).throughput,
}

// arguments are those after the flags, by command.
var arguments = map[string]string{
	"submit": "ID TEXT", "history": "ID", "answer": "ID allow|deny|retry|happened|stop [TEXT]", "cancel": "ID",
}

// run is main with its arguments, environment and output. It returns 0, 1 if the command failed, and 2 for wrong
// arguments.
func run(ctx context.Context, args []string, env func(string) string, out, problems io.Writer) int {
	p := &program{env: env, out: out, problems: problems, flags: flag.NewFlagSet("fleet", flag.ContinueOnError)}
	p.flags.SetOutput(problems)
	if len(args) == 0 || commands[args[0]] == nil {
		names := make([]string, 0, len(commands))
		for name := range commands {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(problems, "fleet: name a command: %s\n", strings.Join(names, ", "))
		return 2
	}
	p.server = p.flags.String("server", "nats://127.0.0.1:4222", "the `URL` of the server; a comma separates several")
	p.name = p.flags.String("fleet", "", "the `name` of the fleet on the server (default fleet)")
	p.user = p.flags.String("user", "", "a user `name`; the password is read from FLEET_PASSWORD")
	p.creds = p.flags.String("creds", "", "a `file` with credentials")
	p.nkey = p.flags.String("nkey", "", "a `file` with the seed of an NKey")
	p.inbox = p.flags.String("inbox", "", "the `prefix` of the subjects for replies, if the server grants one "+
		"(default _INBOX)")
	p.ca = p.flags.String("tls-ca", "", "a PEM `file` with the authorities to trust")
	p.cert = p.flags.String("tls-cert", "", "a PEM `file` with the certificate to present")
	p.key = p.flags.String("tls-key", "", "a PEM `file` with the key of the certificate")
	p.flags.Usage = func() {
		fmt.Fprintf(problems, "usage: fleet %s\n", strings.TrimSpace(args[0]+" [flags] "+arguments[args[0]]))
		p.flags.PrintDefaults()
	}
	err := commands[args[0]](p, ctx, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case err != nil:
		fmt.Fprintf(problems, "fleet %s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// errUsage says that the problem with the arguments has been printed.
var errUsage = errors.New("wrong arguments")

// parse reads the flags of a command, first from the environment, and checks the number of the other arguments.
func (p *program) parse(args []string, least, most int) error {
	var wrong []error
	p.flags.VisitAll(func(f *flag.Flag) {
		name := "FLEET_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if text := p.env(name); text != "" {
			if err := p.flags.Set(f.Name, text); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	if err := p.flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if n := p.flags.NArg(); n < least || n > most {
		fmt.Fprintf(p.problems, "fleet: %d arguments after the flags\n", n)
		p.flags.Usage()
		return errUsage
	}
	return nil
}

// connect connects to the server.
func (p *program) connect() (*nats.Conn, error) {
	opts := []nats.Option{nats.Name("fleet")}
	if *p.user != "" {
		opts = append(opts, nats.Password(*p.user, p.env("FLEET_PASSWORD")))
	}
	if *p.creds != "" {
		opts = append(opts, nats.Credentials(*p.creds))
	}
	if *p.nkey != "" {
		opts = append(opts, nats.NKey(*p.nkey))
	}
	if *p.inbox != "" {
		opts = append(opts, nats.Inbox(*p.inbox))
	}
	if *p.ca != "" {
		opts = append(opts, nats.RootCA(*p.ca))
	}
	if *p.cert != "" {
		opts = append(opts, nats.ClientCert(*p.cert, *p.key))
	}
	return nats.Connect(*p.server, opts...)
}

// open connects to the server and opens the fleet.
func (p *program) open(ctx context.Context) (fleet.Store, *nats.Conn, error) {
	conn, err := p.connect()
	if err != nil {
		return fleet.Store{}, nil, err
	}
	store, err := natsfleet.Open(ctx, conn, natsfleet.Config{Name: *p.name})
	if err != nil {
		_ = conn.Close() // it returns nil
		return fleet.Store{}, nil, err
	}
	return store, conn, nil
}
