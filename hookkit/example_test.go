package hookkit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/testdata/mail"
)

// The examples fire points of a program that sends mail; see spec/testdata/mail/spec.go.

// noteSend returns a hook of BeforeSend that prints a line and continues.
func noteSend(line string) mail.BeforeSendFunc {
	return func(context.Context, *mail.Run, mail.Message) (mail.BeforeSendOutcome, error) {
		fmt.Println(line)
		return nil, nil
	}
}

// sendMail fires BeforeSend and prints the result.
func sendMail(hooks *mail.Hooks, run *mail.Run, to string) {
	message := mail.Message{To: to}
	exit, err := hooks.BeforeSend.Fire(context.Background(), run, &message)
	if err != nil {
		fmt.Println("failed:", errors.Unwrap(err))
		return
	}
	fmt.Println(mail.MatchBeforeSend(exit,
		func() string { return "sent to " + message.To },
		func(r mail.Refuse) string { return "refused: " + r.Reason },
	))
}

// Quota is a hook that refuses all but the first messages of a run.
type Quota struct {
	Max  int
	sent hookkit.PerRun[int]
}

func (q *Quota) Bind(h *mail.Hooks) { h.BeforeSend.Add(q, hookkit.Priority(hookkit.Safety)) }

func (q *Quota) BeforeSend(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
	refused := false
	q.sent.Do(run, func(n *int) {
		*n++
		refused = *n > q.Max
	})
	if refused {
		return mail.Refuse{Reason: "quota exceeded"}, nil
	}
	return nil, nil
}

// A server runs the hooks of its operator, and each tenant adds its own. The operator's hooks fire first, whatever the
// priorities, and a tenant's hooks never reach another tenant.
func Example_layers() {
	var server mail.Hooks
	server.BeforeSend.Add(noteSend("operator: audit"))

	tenant := server.Layer("tenant 7")
	tenant.BeforeSend.Add(noteSend("tenant 7: quota"), hookkit.Priority(hookkit.Safety))
	other := server.Layer("tenant 8")

	run := mail.NewRun(&mail.Account{})
	sendMail(tenant, run, "Ada")
	sendMail(other, run, "Bob")
	// Output:
	// operator: audit
	// tenant 7: quota
	// sent to Ada
	// operator: audit
	// sent to Bob
}

// A hook must see the message before a hook that somebody else registered with a higher priority. Before moves it
// forward, and needs no number that is higher still.
func ExampleBefore() {
	var hooks mail.Hooks
	guard := hooks.BeforeSend.Add(noteSend("guard"), hookkit.Priority(hookkit.Safety))
	hooks.BeforeSend.Add(noteSend("expand aliases"), hookkit.Before(guard))
	sendMail(&hooks, mail.NewRun(&mail.Account{}), "Ada")
	// Output:
	// expand aliases
	// guard
	// sent to Ada
}

// A hook with a high priority must wait for another one.
func ExampleAfter() {
	var hooks mail.Hooks
	aliases := hooks.BeforeSend.Add(noteSend("expand aliases"), hookkit.Priority(hookkit.Mutation))
	hooks.BeforeSend.Add(noteSend("guard"), hookkit.Priority(hookkit.Safety), hookkit.After(aliases))
	sendMail(&hooks, mail.NewRun(&mail.Account{}), "Ada")
	// Output:
	// expand aliases
	// guard
	// sent to Ada
}

// A hook asks a service that may be slow. With a Timeout, a slow answer is a failure of the hook, and because the
// point is FailClosed the message is not sent.
func ExampleTimeout() {
	var hooks mail.Hooks
	ask := func(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
		<-ctx.Done() // the service never answers
		return nil, ctx.Err()
	}
	hooks.BeforeSend.AddFunc(ask, hookkit.Timeout(time.Millisecond))
	message := mail.Message{To: "Ada"}
	_, err := hooks.BeforeSend.Fire(context.Background(), mail.NewRun(&mail.Account{}), &message)
	fmt.Println(errors.Is(err, hookkit.ErrTimeout))
	// Output: true
}

// An operator limits a hook that somebody else wrote. In Use, options apply to everything that the hook's Bind
// registers.
func ExampleTimeout_use() {
	var hooks mail.Hooks
	hooks.Use(&Quota{Max: 1}, hookkit.Timeout(time.Minute), hookkit.Named("quota"))
	for _, hook := range hooks.BeforeSend.List() {
		fmt.Println(hook.Name, hook.Timeout)
	}
	// Output: quota 1m0s
}

// A metrics exporter must not slow the program down. With Async it is notified in the background. If the queue is full,
// events are dropped and counted.
func ExampleAsync() {
	var hooks mail.Hooks
	export := func(ctx context.Context, run *mail.Run, fired mail.BeforeSendFired[mail.Message]) {
		fmt.Println("exported:", fired.Payload.To)
	}
	metrics := hooks.BeforeSend.ObserveFunc(export, hookkit.Async(100))

	message := mail.Message{To: "Ada"}
	_, err := hooks.BeforeSend.Fire(context.Background(), mail.NewRun(&mail.Account{}), &message)
	if err != nil {
		fmt.Println(err)
	}
	if err := metrics.Drain(context.Background()); err != nil { // before the program ends
		fmt.Println(err)
	}
	fmt.Println("dropped:", metrics.Dropped())
	// Output:
	// exported: Ada
	// dropped: 0
}

// An operator wants to know which hooks ran. Tracers add up, and each can be detached.
func ExampleTracer() {
	var hooks mail.Hooks
	hooks.BeforeSend.Add(noteSend("guard"), hookkit.Named("guard"))
	hooks.Use(&Quota{Max: 0}, hookkit.Named("quota"))

	var events hookkit.TraceRecorder
	tracing := hooks.Trace(&events)
	sendMail(&hooks, mail.NewRun(&mail.Account{}), "Ada")
	tracing.Remove()
	sendMail(&hooks, mail.NewRun(&mail.Account{}), "Bob") // not traced

	for _, e := range events.Events() {
		fmt.Println(e.Kind, e.Point, e.Hook, e.Decision, e.Reason)
	}
	// Output:
	// refused: quota exceeded
	// refused: quota exceeded
	// hook BeforeSend quota Refuse quota exceeded
	// fire BeforeSend quota Refuse quota exceeded
}

// A hook is needed for one part of the program only.
func ExampleRegistration_Remove() {
	var hooks mail.Hooks
	run := mail.NewRun(&mail.Account{})
	quota := hooks.Use(&Quota{Max: 0})
	sendMail(&hooks, run, "Ada")
	fmt.Println("removed:", quota.Remove())
	sendMail(&hooks, run, "Ada")
	// Output:
	// refused: quota exceeded
	// removed: true
	// sent to Ada
}

// One value of a hook serves many runs, also in parallel. PerRun gives each run its own count.
func ExamplePerRun() {
	quota := &Quota{Max: 1} // its field sent is a PerRun[int]
	var hooks mail.Hooks
	hooks.Use(quota)

	monday, tuesday := mail.NewRun(&mail.Account{}), mail.NewRun(&mail.Account{})
	sendMail(&hooks, monday, "Ada")
	sendMail(&hooks, monday, "Ada")
	sendMail(&hooks, tuesday, "Ada")
	fmt.Println(quota.sent.Load(monday), quota.sent.Load(tuesday))
	// Output:
	// sent to Ada
	// refused: quota exceeded
	// sent to Ada
	// 2 1
}

// A program reports which hook refused a message. FireBy also returns the file and line where that hook was registered.
func ExampleBy() {
	var hooks mail.Hooks
	hooks.BeforeSend.Add(noteSend("audit"))
	hooks.Use(&Quota{Max: 0}, hookkit.Named("quota"))

	message := mail.Message{To: "Ada"}
	_, by, err := hooks.BeforeSend.FireBy(context.Background(), mail.NewRun(&mail.Account{}), &message)
	file, _, _ := strings.Cut(by.Site, ":")
	fmt.Println(by.Hook, by.Decision, by.Reason, file, err)
	// Output: quota Refuse quota exceeded hookkit/example_test.go <nil>
}

// A hook of a FailOpen point fails. The fire continues, and the failure handler is notified, so that the failure is not
// lost. Without HandleFailures it is logged by log/slog.
func ExampleFailure() {
	var hooks mail.Hooks
	hooks.HandleFailures(func(ctx context.Context, failure *hookkit.Failure) {
		fmt.Println("alert:", failure.Point, failure.Hook, failure.Cause)
	})
	translate := func(context.Context, *mail.Run, mail.Message) (mail.BeforeShowOutcome, error) {
		panic("no dictionary")
	}
	hooks.BeforeShow.AddFunc(translate, hookkit.Named("translate"))
	message := mail.Message{Body: "hello"}
	err := hooks.BeforeShow.Fire(context.Background(), mail.NewRun(&mail.Account{}), &message)
	fmt.Println(message.Body, err)
	// Output:
	// alert: BeforeShow translate panic: no dictionary
	// hello <nil>
}

// Cache is a hook that knows some receipts.
type Cache map[string]mail.Receipt

func (c Cache) Bind(h *mail.Hooks) { h.AroundSend.Add(c) }

func (c Cache) AroundSend(
	ctx context.Context, run *mail.Run, m mail.Message, next mail.AroundSendNext,
) (hookkit.Answer[mail.Receipt], error) {
	if receipt, ok := c[m.To]; ok {
		return hookkit.Answered(receipt), nil
	}
	return next.Call(ctx, m)
}

// A cache answers instead of the act that it wraps. Answered makes the result; the act does not run.
func ExampleAnswered() {
	var hooks mail.Hooks
	hooks.Use(Cache{"Ada": {Way: "cache"}})
	post := func(context.Context, mail.Message) (mail.Receipt, error) { return mail.Receipt{Way: "post"}, nil }
	run := mail.NewRun(&mail.Account{})
	for _, to := range []string{"Ada", "Bob"} {
		receipt, err := hooks.AroundSend.Fire(context.Background(), run, mail.Message{To: to}, post)
		fmt.Println(to, receipt.Way, err)
	}
	// Output:
	// Ada cache <nil>
	// Bob post <nil>
}

// An operator asks why hooks fire in this order.
func ExampleInfo() {
	var hooks mail.Hooks
	guard := hooks.BeforeSend.Add(noteSend("guard"), hookkit.Named("guard"), hookkit.Priority(hookkit.Safety))
	hooks.BeforeSend.Add(noteSend("aliases"), hookkit.Named("aliases"), hookkit.Before(guard))
	for i, hook := range hooks.BeforeSend.List() {
		reasons, _, _ := strings.Cut(hook.Why, ", from ") // the site follows
		fmt.Printf("%d. %s: %s\n", i+1, hook.Name, reasons)
	}
	// Output:
	// 1. aliases: priority 0 (default), layer 0, before guard
	// 2. guard: priority 100 (Safety), layer 0
}
