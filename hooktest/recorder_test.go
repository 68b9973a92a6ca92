package hooktest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/testdata/mail"
)

// recorded returns a recorder of two fires: one that was decided and one, in a run that the first one started, that was
// not.
func recorded(t *testing.T) *Recorder {
	t.Helper()
	hooks := new(mail.Hooks)
	hooks.BeforeSend.AddFunc(func(_ context.Context, _ *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
		m.To = "them"
		return mail.ReplaceBeforeSend(m, "redirected"), nil
	}, hookkit.Named("redirect"))
	hooks.BeforeSend.AddFunc(func(context.Context, *mail.Run, mail.Message) (mail.BeforeSendOutcome, error) {
		return mail.Refuse{Reason: "not\nnow"}, nil
	}, hookkit.Named("quiet hours"))
	recorder := Record(hooks.Points())
	run := mail.NewRun(nil)
	if _, err := hooks.BeforeSend.Fire(t.Context(), run, &mail.Message{To: "you"}); err != nil {
		t.Fatal(err)
	}
	hooks.Layer("inner").OnSent.Fire(t.Context(), run.Child(nil), mail.Receipt{})
	return recorder
}

func TestRecorderKeepsFiresAndDecisions(t *testing.T) {
	r := recorded(t)
	r.Fired(t, "BeforeSend", "OnSent")
	r.InOrder(t, "OnSent")
	r.InOrder(t, "BeforeSend", "OnSent")
	r.Times(t, "BeforeSend", 1)
	r.Times(t, "AfterSend", 0)
	r.Decided(t, "BeforeSend", "quiet hours", "Refuse", "not\nnow")
	r.Decided(t, "OnSent", "", "", "")
	if want := "BeforeSend: Refuse by quiet hours, not\\nnow\nOnSent\n"; r.String() != want {
		t.Errorf("got %q, want %q", r, want)
	}
	if d := r.Diff("  OnSent\n\n  AfterSend"); d != "+ BeforeSend: Refuse by quiet hours, not\\nnow\n  OnSent\n- "+
		"AfterSend\n" {
		t.Errorf("the difference is\n%s", d)
	}
	if d := r.Diff(r.String()); d != "" {
		t.Errorf("the difference from itself is\n%s", d)
	}
	if sent := PayloadsOf[mail.Message](r, "BeforeSend"); len(sent) != 1 || sent[0].To != "you" {
		t.Errorf("payloads %+v", sent)
	}
	fires := r.Fires()
	if final, ok := fires[0].Final.(mail.Message); !ok || final.To != "them" {
		t.Errorf("final payload %+v", fires[0].Final)
	}
	if fires[1].Parent != fires[0].Run || fires[0].Parent != "" || fires[1].Run == fires[0].Run {
		t.Errorf("runs %s of %q, %s of %q", fires[0].Run, fires[0].Parent, fires[1].Run, fires[1].Parent)
	}
	if decided := r.Decisions(); len(decided) != 1 || decided[0].Hook != "quiet hours" {
		t.Errorf("decisions %v", decided)
	}
	r.Reset()
	if r.String() != "" {
		t.Errorf("after Reset: %s", r)
	}
}

func TestRecorderAssertionsFail(t *testing.T) {
	r := recorded(t)
	for _, test := range []struct {
		want  string
		check func(testing.TB)
	}{
		{"- OnSent\n+ BeforeSend\n", func(t testing.TB) { r.Fired(t, "OnSent", "OnSent") }},
		{"there was no BeforeSend", func(t testing.TB) { r.InOrder(t, "OnSent", "BeforeSend") }},
		{"there is no point OnBanana; choose one of [", func(t testing.TB) { r.Times(t, "OnBanana", 0) }},
		{"fired 1 times, want 2", func(t testing.TB) { r.Times(t, "BeforeSend", 2) }},
		{
			`no "BeforeSend: Replace by redirect, redirected"`,
			func(t testing.TB) { r.Decided(t, "BeforeSend", "redirect", "Replace", "redirected") },
		},
		{
			"never fired: MaySend, Footer, AroundSend, AfterSend, BeforeShow, BeforeSave;",
			func(t testing.TB) { EveryPointFired(t, r) },
		},
		{
			"never fired: MaySend, AroundSend;",
			func(t testing.TB) { EveryPointFired(t, r, "Footer", "AfterSend", "BeforeShow", "BeforeSave") },
		},
		{"OnSent, but it was fired", func(t testing.TB) {
			EveryPointFired(t, r, "MaySend", "Footer", "AroundSend", "AfterSend", "BeforeShow", "BeforeSave", "OnSent")
		}},
		{"Misspelt, but there is no such point", func(t testing.TB) {
			EveryPointFired(t, r, "MaySend", "Footer", "AroundSend", "AfterSend", "BeforeShow", "BeforeSave", "Misspelt")
		}},
	} {
		t.Run(test.want, func(t *testing.T) {
			f := &reports{TB: t}
			test.check(f)
			if len(f.texts) != 1 || !strings.Contains(f.texts[0], test.want) {
				t.Errorf("reported %q", f.texts)
			}
		})
	}
}

func TestEveryPointFiredPassesOnceAllAre(t *testing.T) {
	hooks := new(mail.Hooks)
	r := Record(hooks.Points())
	for _, p := range hooks.Points() {
		if _, err := p.Fire(t.Context(), p.NewRun(), p.New()); err != nil {
			t.Error(err)
		}
	}
	EveryPointFired(t, r)
}

func TestRecorderServesParallelRuns(t *testing.T) {
	hooks := new(mail.Hooks)
	r := Record(hooks.Points())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				hooks.OnSent.Fire(t.Context(), mail.NewRun(nil), mail.Receipt{})
				_ = r.Count("OnSent")
			}
		})
	}
	wg.Wait()
	r.Times(t, "OnSent", 800)
}
