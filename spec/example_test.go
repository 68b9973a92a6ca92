package spec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	_ "github.com/hookgen/hookgen/spec" // so that the examples belong to this package
	"github.com/hookgen/hookgen/spec/testdata/mail"
)

// The examples fire the points of testdata/mail/spec.go through the code that hookgen generated from it.

var ctx = context.Background()

// Limit refuses long messages. The compiler would report a misspelled method, another payload type, or an exit
// that is not legal at BeforeSend.
type Limit struct{ Max int }

func (l Limit) Bind(h *mail.Hooks) { h.BeforeSend.Add(l) }

func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
	if len(m.Body) > l.Max {
		return mail.Refuse{Reason: fmt.Sprintf("longer than %d", l.Max)}, nil
	}
	return nil, nil
}

// A hook binds itself to its points. The program fires them and handles each result: an error, each exit of the
// point, and the case that every hook continued. Adding an exit to the spec breaks the call of MatchBeforeSend at
// compile time.
func Example() {
	var hooks mail.Hooks
	hooks.Use(Limit{Max: 10})
	run := mail.NewRun(&mail.Account{Name: "me"})

	for _, text := range []mail.Text{"short", "by far too long"} {
		message := mail.Message{To: "you", Body: text}
		exit, by, err := hooks.BeforeSend.FireBy(ctx, run, &message)
		if err != nil {
			fmt.Println("not sent, because a hook failed:", err)
			continue
		}
		fmt.Println(mail.MatchBeforeSend(exit,
			func() string { return "sent: " + string(message.Body) },
			func(r mail.Refuse) string { return "refused by " + by.Hook + ": " + r.Reason },
		))
	}
	// Output:
	// sent: short
	// refused by spec_test.Limit: longer than 10
}

// Every hook sees the environment as run.Env.
func ExampleEnv() {
	var hooks mail.Hooks
	hooks.OnSent.AddFunc(func(ctx context.Context, run *mail.Run, r mail.Receipt) error {
		fmt.Println(run.Env.Name, "sent by", r.Way)
		return nil
	})
	hooks.OnSent.Fire(ctx, mail.NewRun(&mail.Account{Name: "me"}), mail.Receipt{Way: "post"})
	// Output: me sent by post
}

// Each hook and finally the program get the payload after the last replacement.
func ExampleReplace() {
	var hooks mail.Hooks
	for _, word := range []mail.Text{" kind", " regards"} {
		hooks.BeforeSend.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
			m.Body += word
			return mail.ReplaceBeforeSend(m, "signed"), nil
		})
	}
	message := mail.Message{Body: "with"}
	exit, err := hooks.BeforeSend.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(message.Body, exit, err)
	// Output: with kind regards <nil> <nil>
}

// An edit changes only its field.
func ExampleEdit() {
	var hooks mail.Hooks
	hooks.BeforeShow.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeShowOutcome, error) {
		m.From = "somebody else" //hookvet:ignore lostchange a copy: this has no effect
		return mail.EditBeforeShow(mail.Text(strings.ToUpper(string(m.Body))), "loud"), nil
	})
	message := mail.Message{From: "me", Body: "hello"}
	err := hooks.BeforeShow.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(message.From, message.Body, err)
	// Output: me HELLO <nil>
}

// All hooks vote. The exit that the point lists first wins, regardless of the firing order.
func ExampleVote() {
	var hooks mail.Hooks
	votes := []mail.MaySendOutcome{mail.Allow{}, mail.Refuse{Reason: "spam"}, mail.Hold{Reason: "unknown"}, nil}
	for _, vote := range votes {
		hooks.MaySend.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.MaySendOutcome, error) {
			return vote, nil
		})
	}
	exit, err := hooks.MaySend.Fire(ctx, mail.NewRun(nil), mail.Message{})
	fmt.Println(mail.MatchMaySend(exit,
		func() string { return "nobody voted" },
		func(r mail.Refuse) string { return "refused: " + r.Reason },
		func(h mail.Hold) string { return "held: " + h.Reason },
		func(mail.Allow) string { return "allowed" },
	), err)
	// Output: refused: spam <nil>
}

// Contributions are concatenated in firing order.
func ExampleCollect() {
	var hooks mail.Hooks
	for _, lines := range [][]string{{"regards"}, nil, {"--", "me"}} {
		hooks.Footer.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) ([]string, error) {
			return lines, nil
		})
	}
	fmt.Printf("%q\n", hooks.Footer.Fire(ctx, mail.NewRun(nil), mail.Message{}))
	// Output: ["regards" "--" "me"]
}

// The first error ends the fire and is returned.
func ExampleCheck() {
	errFull := errors.New("the disk is full")
	var hooks mail.Hooks
	for _, err := range []error{nil, errFull, errors.New("never asked")} {
		hooks.BeforeSave.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) error {
			return err
		})
	}
	err := hooks.BeforeSave.Fire(ctx, mail.NewRun(nil), mail.Message{})
	fmt.Println(errors.Is(err, errFull))
	// Output: true
}

// The hook [mail.Retry] calls next, which sends the message, and calls it again if that failed.
func ExampleAround() {
	var hooks mail.Hooks
	hooks.Use(mail.Retry{})
	ways := []string{"", "post"}
	send := func(ctx context.Context, m mail.Message) (mail.Receipt, error) {
		way := ways[0]
		ways = ways[1:]
		if way == "" {
			return mail.Receipt{}, errors.New("no way")
		}
		return mail.Receipt{Way: way}, nil
	}
	receipt, err := hooks.AroundSend.Fire(ctx, mail.NewRun(nil), mail.Message{}, send)
	fmt.Println(receipt.Way, err)
	// Output:
	// again, for no way
	// post <nil>
}

// With Reverse the first registered hook fires last.
func ExampleReverse() {
	var hooks mail.Hooks
	for _, word := range []string{"first", "second"} {
		hooks.AfterSend.AddFunc(func(ctx context.Context, run *mail.Run, r mail.Receipt) (mail.AfterSendOutcome, error) {
			r.Way += " " + word
			return mail.ReplaceAfterSend(r, "passed"), nil
		})
	}
	receipt := mail.Receipt{Way: "back:"}
	err := hooks.AfterSend.Fire(ctx, mail.NewRun(nil), &receipt)
	fmt.Println(receipt.Way, err)
	// Output: back: second first <nil>
}

// At a FailClosed point a failing hook ends the fire: the program receives the failure and must not send.
func ExampleFailClosed() {
	errOrder := errors.New("out of order")
	var hooks mail.Hooks
	hooks.BeforeSend.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
		return nil, errOrder
	})
	message := mail.Message{Body: "hello"}
	exit, err := hooks.BeforeSend.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(exit, errors.Is(err, errOrder))
	// Output: <nil> true
}

// At a FailOpen point the failure is reported, and the next hook runs. Without HandleFailures, [log/slog] logs it.
func ExampleFailOpen() {
	var hooks mail.Hooks
	hooks.HandleFailures(func(ctx context.Context, failure *hookkit.Failure) {
		fmt.Println("reported:", failure.Cause)
	})
	hooks.BeforeShow.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeShowOutcome, error) {
		return nil, errors.New("out of order")
	})
	hooks.BeforeShow.AddFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeShowOutcome, error) {
		return mail.EditBeforeShow(m.Body+"!", "stressed"), nil
	})
	message := mail.Message{Body: "hello"}
	err := hooks.BeforeShow.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(message.Body, err)
	// Output:
	// reported: out of order
	// hello! <nil>
}
