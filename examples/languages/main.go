// Command languages asks a guard in another language whether a message may be sent:
//
//	go run . -to you python3 guards/guard.py
//	go run . -to you -each sh guards/guard.sh
//	npx tsc --outDir build guards/guard.ts && go run . -to you node build/guard.js
//
// The guards in Python and TypeScript are typed. Their types come from the spec in mail, in two steps:
//
//	go generate ./mail
//	npx quicktype -s schema 'mail/schema/model.json#/$defs/' --lang py -o guards/hooks.py
//	npx quicktype -s schema 'mail/schema/model.json#/$defs/' --lang ts --just-types -o guards/hooks.ts
//
// A guard that returns a decision of another point, or a field that its exit does not have, then fails the type check
// (npx pyright guards/guard.py, npx tsc --noEmit guards/guard.ts). The host reads replies strictly, so it
// refuses such a reply of a guard that was not checked.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hookgen/hookgen/examples/languages/mail"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "languages:", err)
		os.Exit(1)
	}
}

// run asks the guard and prints its decision.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("languages", flag.ContinueOnError)
	to := flags.String("to", "team-go", "the `address` of the message")
	each := flags.Bool("each", false, "start the guard for each fire, instead of once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return fmt.Errorf("name the guard's command, for example: python3 guards/guard.py")
	}
	var caller wire.Caller
	if *each {
		caller = wireexec.Command(flags.Args())
	} else {
		process := wireexec.Process(flags.Args(), wireexec.Stderr(os.Stderr))
		defer func() { _ = process.Close() }()
		caller = process
	}
	guard, err := mail.Remote(ctx, caller, wire.Points("BeforeSend"))
	if err != nil {
		return err
	}
	var hooks mail.Hooks
	hooks.Use(guard)
	m, sending := mail.Message{To: *to, Text: "Hello"}, mail.NewRun(struct{}{})
	exit, by, err := hooks.BeforeSend.FireBy(ctx, sending, &m)
	if err != nil {
		return err
	}
	return mail.MatchBeforeSend(exit,
		func() error {
			hooks.OnSent.Fire(ctx, sending, m)
			_, err := fmt.Fprintf(out, "sent to %s\n", m.To)
			return err
		},
		func(r mail.Refuse) error {
			_, err := fmt.Fprintf(out, "not sent to %s: %s (%s)\n", m.To, r.Reason, by.Hook)
			return err
		},
	)
}
