package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/moduleproxy"
	"github.com/hookgen/hookgen/internal/usermodule"
)

const (
	oldPoints = `package mail

import (
	"example.com/address"

	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	BeforeSend(Message) (Refuse, spec.FailClosed)
	OnSent(Receipt)
}

type Message struct{ To address.Address }

type Receipt struct{ Way string }

type Refuse struct{ Reason string }
`
	guard = `package guard

import (
	"context"

	"example.com/mail"
)

type Guard struct{}

func (g Guard) Bind(h *mail.Hooks) { h.BeforeSend.Add(g) }

func (Guard) BeforeSend(context.Context, *mail.Run, mail.Message) (mail.BeforeSendOutcome, error) {
	return nil, nil
}
`
)

// The author of a plug-in sees the changes of a program that concern its hooks, before or after the upgrade.
func TestBreakingForHooks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds hookgen and uses a module proxy")
	}
	hookgen, proxy := usermodule.BuildHookgen(t), t.TempDir()
	publish := func(path, version string, m *usermodule.Module) {
		t.Helper()
		if err := moduleproxy.Add(proxy, path, version, m.Dir, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for version, fields := range map[string]string{"v1.0.0": "Name, Host string", "v1.1.0": "Name string"} {
		m := usermodule.New(t)
		m.Write("go.mod", "module example.com/address\n\ngo 1.26.0\n")
		m.Write("address.go", "package address\n\ntype Address struct{ "+fields+" }\n")
		publish("example.com/address", version, m)
	}
	for version, text := range map[string]string{
		"v1.0.0": oldPoints,
		"v1.1.0": strings.NewReplacer("\tBeforeSend", "\t//hookgen:ignore policy-loosened ours\n\tBeforeSend",
			"FailClosed", "FailOpen", "Way string", "Route string").Replace(oldPoints),
	} {
		m := usermodule.New(t)
		m.Init("example.com/mail")
		m.Write("spec.go", text)
		m.Run("go", "mod", "edit", "-require=example.com/address@"+version)
		m.Run(hookgen)
		publish("example.com/mail", version, m)
	}
	env := usermodule.ProxyEnv(t, proxy)
	plugin := func(version string) *usermodule.Module {
		m := usermodule.New(t, env...)
		m.Init("example.com/guard")
		m.Write("guard.go", guard)
		m.Run("go", "mod", "edit", "-require=example.com/mail@"+version)
		m.Run("go", "build", "./...")
		return m
	}
	old, now := plugin("v1.0.0"), plugin("v1.1.0")
	if err := moduleproxy.Add(proxy, "example.com/guard", "v1.0.0", old.Dir, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	embedding := usermodule.New(t, env...)
	embedding.Init("example.com/embedding")
	embedding.Write("log/log.go", "package log\n\nimport \"example.com/mail\"\n\nvar Hooks mail.Hooks\n")
	embedding.Write("both/both.go", `package both

import (
	"context"

	"example.com/guard"
	"example.com/mail"
)

type Both[T any] struct{ guard.Guard }

func (b *Both[T]) Bind(h *mail.Hooks) {
	b.Guard.Bind(h)
	h.OnSent.Add(b)
}

func (*Both[T]) OnSent(context.Context, *mail.Run, mail.Receipt) error { return nil }
`)
	embedding.Run("go", "mod", "edit", "-require=example.com/mail@v1.0.0", "-require=example.com/guard@v1.0.0")
	embedding.Run("go", "build", "./...")
	whole := plugin("v1.0.0")
	whole.Run("go", "mod", "vendor")
	vendoring := usermodule.New(t, append(env, "GOFLAGS=-mod=vendor")...)
	if err := os.CopyFS(vendoring.Dir, os.DirFS(whole.Dir)); err != nil {
		t.Fatal(err)
	}
	vendoring.Write("mail/spec.go", strings.ReplaceAll(oldPoints, "OnSent", "OnOther")) // not that of the module
	for _, c := range []struct {
		name   string
		in     *usermodule.Module
		args   []string
		want   []string // parts of the output
		hidden string   // no part of it
	}{
		{"before the upgrade", old, []string{"-for", ".", "-against", "example.com/mail@v1.1.0"}, []string{
			"a failing hook of BeforeSend is now reported and skipped", "(policy-loosened; was ", "Host",
			" since example.com/mail@v1.0.0: ",
		}, "Route"},
		{"to the latest version", old, []string{"-against=example.com/mail@latest", "./...", "-for"},
			[]string{"policy-loosened", "(field-removed"}, "Route"},
		{"after the upgrade", now, []string{"-for", "./...", "-against", "example.com/mail@v1.0.0"},
			[]string{"policy-loosened", "(field-removed", " since example.com/mail@v1.0.0: "}, "Route"},
		{"a hook that embeds one of another module", embedding, []string{
			"-for", "./log", "./both", "-against", "example.com/mail@v1.1.0",
		}, []string{"policy-loosened", "Route"}, "cannot"},
		{"no hooks among the packages", embedding, []string{"-for", "./log", "-against", "example.com/mail@v1.1.0"},
			[]string{"no change at the points"}, "policy-loosened"},
		{"a folder vendor", vendoring, []string{"-for", ".", "-against", "example.com/mail@v1.1.0"},
			[]string{"policy-loosened", " since example.com/mail@v1.0.0: "}, "OnOther"},
		{"the same version", now, []string{"-for", ".", "-against", "example.com/mail@v1.1.0"},
			[]string{"no change at the points of these hooks from example.com/mail@v1.1.0 to example.com/mail@v1.1.0"},
			"policy"},
		{"a version that does not exist", old, []string{"-for", ".", "-against", "example.com/mail@v9.0.0"},
			[]string{"example.com/mail@v9.0.0 cannot be downloaded: "}, "since"},
		{"another module", old, []string{"-for", ".", "-against", "example.com/address@v1.0.0"},
			[]string{"no package imports one that hookgen generated in example.com/address: "}, "since"},
		{"no version", old, []string{"-for", ".", "-against", "git:HEAD"},
			[]string{"give a module and its version"}, "since"},
		{"no hooks", old, []string{"-for", "-against", "example.com/mail@v1.1.0"},
			[]string{"-for needs the packages of your hooks"}, "since"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := c.in.Try(append([]string{hookgen, "breaking"}, c.args...)...)
			for _, part := range c.want {
				if !strings.Contains(got, part) {
					t.Errorf("no %q in\n%s", part, got)
				}
			}
			if strings.Contains(got, c.hidden) {
				t.Errorf("%q is in\n%s", c.hidden, got)
			}
		})
	}
}

func TestModulesOfTheSameVersionAreNotRead(t *testing.T) {
	goMod := func(version string) []byte {
		return []byte("module m\n\nrequire (\n\texample.com/a " + version + "\n\texample.com/near v1.0.0\n)\n" +
			"replace example.com/near => ../near\n")
	}
	same := requirements(goMod("v1.0.0"), false)
	o := &otherModules{old: same, now: same, cache: t.TempDir()}
	for _, path := range []string{"time", "net/http", "example.com/a/b", "example.com/other"} {
		if files := o.files(path, true, false); files != nil || len(o.missing) > 0 {
			t.Errorf("%s: %v, missing %v", path, files, o.missing)
		}
	}
	o.now = requirements(goMod("v1.1.0"), false)
	const missing = "example.com/a/b (example.com/a@v1.0.0, example.com/a@v1.1.0); example.com/near/c (../near, ../near)"
	for _, path := range []string{"example.com/a/b", "example.com/near/c", "example.com/a/b"} {
		if files := o.files(path, true, false); files != nil {
			t.Errorf("%v", files)
		}
	}
	if got := strings.Join(o.missing, "; "); got != missing {
		t.Errorf("the packages %s were not compared, want %s", got, missing)
	}
}
