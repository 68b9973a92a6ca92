package spec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	_ "github.com/hookgen/hookgen/spec" // what the examples are examples of
	"github.com/hookgen/hookgen/spec/testdata/mail"
)

// The examples fire the points of testdata/mail/spec.go, through what hookgen made of it.

var ctx = context.Background()

// Limit refuses long messages. That its method is misspelt, returns an exit that is not legal at the point, or
// takes another payload, the compiler would say.
type Limit struct{ Max int }

func (l Limit) Bind(h *mail.Hooks) { h.BeforeSend.Add(l) }

func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
	if len(m.Body) > l.Max {
		return mail.Refuse{Reason: fmt.Sprintf("longer than %d", l.Max)}, nil
	}
	return nil, nil
}

// A hook binds itself to its points, the program fires them, and obeys what comes back.
func Example() {
	var hooks mail.Hooks
	hooks.Use(Limit{Max: 10})
	run := mail.NewRun(&mail.Account{Name: "me"})

	for _, text := range []mail.Text{"short", "by far too long"} {
		message := mail.Message{To: "you", Body: text}
		exit, err := hooks.BeforeSend.Fire(ctx, run, &message)
		switch x := exit.(type) {
		case mail.Refuse:
			fmt.Println("refused:", x.Reason)
		case nil:
			fmt.Println("sent:", message.Body, err)
		}
	}
	// Output:
	// sent: short <nil>
	// refused: longer than 10
}

// Every hook sees the environment as run.Env.
func ExampleEnv() {
	var hooks mail.Hooks
	hooks.Use(mail.OnSentFunc(func(ctx context.Context, run *mail.Run, r mail.Receipt) error {
		fmt.Println(run.Env.Name, "sent by", r.Way)
		return nil
	}))
	hooks.OnSent.Fire(ctx, mail.NewRun(&mail.Account{Name: "me"}), mail.Receipt{Way: "post"})
	// Output: me sent by post
}

// Each hook sees the payload as the last replacement left it, and so does the program.
func ExampleReplace() {
	var hooks mail.Hooks
	for _, word := range []mail.Text{" kind", " regards"} {
		hooks.Use(mail.BeforeSendFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
			m.Body += word
			return mail.ReplaceBeforeSend(m, "signed"), nil
		}))
	}
	message := mail.Message{Body: "with"}
	exit, err := hooks.BeforeSend.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(message.Body, exit, err)
	// Output: with kind regards <nil> <nil>
}

// An edit reaches its one field and no other.
func ExampleEdit() {
	var hooks mail.Hooks
	hooks.Use(mail.BeforeShowFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeShowOutcome, error) {
		m.From = "somebody else" // a copy: this goes nowhere
		return mail.EditBeforeShow(mail.Text(strings.ToUpper(string(m.Body))), "loud"), nil
	}))
	message := mail.Message{From: "me", Body: "hello"}
	err := hooks.BeforeShow.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(message.From, message.Body, err)
	// Output: me HELLO <nil>
}

// All hooks vote; the exit that the point lists first wins, whoever voted first.
func ExampleVote() {
	var hooks mail.Hooks
	for _, vote := range []mail.MaySendOutcome{mail.Allow{}, mail.Refuse{Reason: "spam"}, mail.Hold{Reason: "unknown"}, nil} {
		hooks.Use(mail.MaySendFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.MaySendOutcome, error) {
			return vote, nil
		}))
	}
	exit, err := hooks.MaySend.Fire(ctx, mail.NewRun(nil), mail.Message{})
	fmt.Printf("%T %[1]v %v\n", exit, err)
	// Output: mail.Refuse {spam} <nil>
}

// Contributions come in firing order.
func ExampleCollect() {
	var hooks mail.Hooks
	for _, lines := range [][]string{{"regards"}, nil, {"--", "me"}} {
		hooks.Use(mail.FooterFunc(func(ctx context.Context, run *mail.Run, m mail.Message) ([]string, error) {
			return lines, nil
		}))
	}
	fmt.Printf("%q\n", hooks.Footer.Fire(ctx, mail.NewRun(nil), mail.Message{}))
	// Output: ["regards" "--" "me"]
}

// The first error stops and comes back.
func ExampleCheck() {
	errFull := errors.New("the disk is full")
	var hooks mail.Hooks
	for _, err := range []error{nil, errFull, errors.New("never asked")} {
		hooks.Use(mail.BeforeSaveFunc(func(ctx context.Context, run *mail.Run, m mail.Message) error {
			return err
		}))
	}
	err := hooks.BeforeSave.Fire(ctx, mail.NewRun(nil), mail.Message{})
	fmt.Println(errors.Is(err, errFull))
	// Output: true
}

// The hook [mail.Retry] calls next, and calls it again if that failed.
func ExampleAround() {
	var hooks mail.Hooks
	hooks.Use(mail.Retry{})
	ways := []string{"", "post"}
	receipt, err := hooks.AroundSend.Fire(ctx, mail.NewRun(nil), mail.Message{}, func(ctx context.Context, m mail.Message) (mail.Receipt, error) {
		way := ways[0]
		ways = ways[1:]
		if way == "" {
			return mail.Receipt{}, errors.New("no way")
		}
		return mail.Receipt{Way: way}, nil
	})
	fmt.Println(receipt.Way, err)
	// Output:
	// again, for no way
	// post <nil>
}

// On the way back the first hook is the last.
func ExampleReverse() {
	var hooks mail.Hooks
	for _, word := range []string{"first", "second"} {
		hooks.Use(mail.AfterSendFunc(func(ctx context.Context, run *mail.Run, r mail.Receipt) (mail.AfterSendOutcome, error) {
			r.Way += " " + word
			return mail.ReplaceAfterSend(r, "passed"), nil
		}))
	}
	receipt := mail.Receipt{Way: "back:"}
	err := hooks.AfterSend.Fire(ctx, mail.NewRun(nil), &receipt)
	fmt.Println(receipt.Way, err)
	// Output: back: second first <nil>
}

// Where the law is FailClosed, a hook that fails refuses: the program gets its failure and must not go on.
func ExampleFailClosed() {
	errOrder := errors.New("out of order")
	var hooks mail.Hooks
	hooks.Use(mail.BeforeSendFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
		return nil, errOrder
	}))
	message := mail.Message{Body: "hello"}
	exit, err := hooks.BeforeSend.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(exit, errors.Is(err, errOrder))
	// Output: <nil> true
}

// Where it is FailOpen, the failure is reported and the next hook runs.
func ExampleFailOpen() {
	var hooks mail.Hooks
	hooks.BeforeShow.Observe(shown{})
	hooks.Use(mail.BeforeShowFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeShowOutcome, error) {
		return nil, errors.New("out of order")
	}))
	hooks.Use(mail.BeforeShowFunc(func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeShowOutcome, error) {
		return mail.EditBeforeShow(m.Body+"!", "stressed"), nil
	}))
	message := mail.Message{Body: "hello"}
	err := hooks.BeforeShow.Fire(ctx, mail.NewRun(nil), &message)
	fmt.Println(message.Body, err)
	// Output:
	// reported: out of order
	// hello! <nil>
}

// shown observes BeforeShow.
type shown struct{}

func (shown) ObserveBeforeShow(ctx context.Context, run *mail.Run, fired mail.BeforeShowFired[mail.Message]) {
	for _, failure := range fired.Failures {
		fmt.Println("reported:", failure.Cause)
	}
}
