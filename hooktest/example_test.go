package hooktest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/spec/testdata/mail"
)

// Limit refuses messages of more than Max bytes.
type Limit struct{ Max int }

func (l Limit) Bind(h *mail.Hooks) { h.BeforeSend.Add(l, hookkit.Priority(hookkit.Safety)) }

func (l Limit) BeforeSend(_ context.Context, _ *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
	if n := len(m.Body); n > l.Max {
		return mail.Refuse{Reason: fmt.Sprintf("%d bytes are more than %d", n, l.Max)}, nil
	}
	return nil, nil
}

// The test of a hook checks it with one line, before it tests the hook's own rules.
func ExampleCheck() {
	testLimit := func(t *testing.T) {
		hooktest.Check(t, func() []hookkit.AnyPoint {
			hooks := new(mail.Hooks)
			hooks.Use(Limit{Max: 20})
			return hooks.Points()
		})
	}
	everything := func(_, _ string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(everything, []testing.InternalTest{{Name: "TestLimit", F: testLimit}}))
	// Output: true
}

// The test of a program records its fires.
func ExampleRecord() {
	hooks := new(mail.Hooks)
	hooks.Use(Limit{Max: 20})
	recorder := hooktest.Record(hooks.Points())

	// send is the program.
	send := func(m mail.Message) {
		ctx, run := context.Background(), mail.NewRun(nil)
		if exit, err := hooks.BeforeSend.Fire(ctx, run, &m); exit == nil && err == nil {
			hooks.OnSent.Fire(ctx, run, mail.Receipt{Way: "post"})
		}
	}
	send(mail.Message{Body: "short"})
	send(mail.Message{Body: "longer than twenty bytes"})
	fmt.Print(recorder)
	fmt.Println("never fired:", recorder.Unfired())
	// Output:
	// BeforeSend
	// OnSent
	// BeforeSend: Refuse by hooktest_test.Limit, 24 bytes are more than 20
	// never fired: [MaySend Footer AroundSend AfterSend BeforeShow BeforeSave]
}

// The test of a program runs it in every way and then finds the points that it never fires. Hooks of such a point would
// register and never run.
func ExampleEveryPointFired() {
	testProgram := func(t *testing.T) {
		hooks := new(mail.Hooks)
		recorder := hooktest.Record(hooks.Points())
		ctx, run := context.Background(), mail.NewRun(nil)
		message := mail.Message{Body: "hello"}
		if err := hooks.BeforeShow.Fire(ctx, run, &message); err != nil {
			t.Error(err)
		}
		hooks.OnSent.Fire(ctx, run, mail.Receipt{Way: "post"})

		// The program of this example shows and sends messages; it has no code for the other points.
		hooktest.EveryPointFired(t, recorder,
			"BeforeSend", "MaySend", "Footer", "AroundSend", "AfterSend", "BeforeSave")
	}
	everything := func(_, _ string) (bool, error) { return true, nil }
	fmt.Println(testing.RunTests(everything, []testing.InternalTest{{Name: "TestProgram", F: testProgram}}))
	// Output: true
}
