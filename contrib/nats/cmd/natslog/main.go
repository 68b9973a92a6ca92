// Command natslog writes the events of a stream to standard output, as lines of JSON. hooklog reads them:
//
//	natslog -server tls://nats.example.com -creds reader.creds -events agents | hooklog show -
//	natslog -server tls://nats.example.com -creds reader.creds -events agents -follow >agents.jsonl
//
// The second one writes new events until it is stopped, and hooklog serve agents.jsonl shows them as they come.
//
// Events that cannot be read are reported on standard error, and others follow. The exit code is 0 after all events
// were written, 1 if some could not be read, and 2 if natslog could not do its work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is main with its arguments, environment and output.
func run(ctx context.Context, args []string, env func(string) string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("natslog", flag.ContinueOnError)
	flags.SetOutput(problems)
	var (
		asked  = flags.Bool("version", false, "print the version, for bug reports")
		server = flags.String("server", "nats://127.0.0.1:4222", "the `URL` of the server; several are separated by commas")
		events = flags.String("events", "", "the `name` of the events")
		follow = flags.Bool("follow", false, "continue with new events until the program is interrupted")
		user   = flags.String("user", "", "a user `name`; the password is read from the environment, NATS_PASSWORD")
		nkey   = flags.String("nkey", "", "a `file` with the seed of an NKey")
		creds  = flags.String("creds", "", "a `file` with credentials")
		ca     = flags.String("ca", "", "a PEM `file` with the authorities that sign the certificate of the server")
		cert   = flags.String("cert", "", "a PEM `file` with a certificate for the server; needs -key")
		key    = flags.String("key", "", "a PEM `file` with the key of -cert")
		inbox  = flags.String("inbox", "", "the `prefix` of the subjects for replies; empty: _INBOX")
	)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *asked {
		fmt.Fprint(out, version())
		return 0
	}
	fail := func(err error) int {
		fmt.Fprintln(problems, "natslog:", err)
		return 2
	}
	if flags.NArg() > 0 || *events == "" {
		return fail(errors.New("name the events with -events; there are no other arguments"))
	}
	opts := []nats.Option{
		nats.Name("natslog"), nats.OnError(func(err error) { fmt.Fprintln(problems, "natslog:", err) }),
	}
	for _, o := range []struct {
		set bool
		opt func() nats.Option
	}{
		{*user != "", func() nats.Option { return nats.Password(*user, env("NATS_PASSWORD")) }},
		{*nkey != "", func() nats.Option { return nats.NKey(*nkey) }},
		{*creds != "", func() nats.Option { return nats.Credentials(*creds) }},
		{*ca != "", func() nats.Option { return nats.RootCA(*ca) }},
		{*cert != "" || *key != "", func() nats.Option { return nats.ClientCert(*cert, *key) }},
		{*inbox != "", func() nats.Option { return nats.Inbox(*inbox) }},
	} {
		if o.set {
			opts = append(opts, o.opt())
		}
	}
	conn, err := nats.Connect(*server, opts...)
	if err != nil {
		return fail(err)
	}
	defer conn.Close()
	stream, err := conn.OpenEvents(ctx, *events)
	if err != nil {
		return fail(err)
	}
	code := 0
	lines := hooklog.Lines(out)
	for event, err := range stream.Read(ctx, *follow) {
		unreadable := new(nats.EventError)
		switch {
		case err == nil:
			if err := lines.WriteEvent(ctx, event); err != nil {
				return fail(err)
			}
		case errors.As(err, &unreadable):
			fmt.Fprintln(problems, "natslog:", err)
			code = 1
		case *follow && ctx.Err() != nil:
		default:
			return fail(err)
		}
	}
	return code
}

// version returns the facts that a bug report needs, in the form of hooklog --version.
func version() string {
	number, module := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		number, module = info.Main.Version, fmt.Sprintf("module %s %s\n", info.Main.Path, info.Main.Version)
	}
	return fmt.Sprintf("natslog %s\n%s %s/%s\n%s", number, runtime.Version(), runtime.GOOS, runtime.GOARCH, module)
}
