package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/moduleproxy"
	"github.com/hookgen/hookgen/internal/usermodule"
)

// TestBreakingForTypesOfOtherModules: the types of a spec are in a nested module, in a module that the program replaces
// with a directory, or nowhere; and a spec extends that of another module.
func TestBreakingForTypesOfOtherModules(t *testing.T) {
	if testing.Short() {
		t.Skip("builds hookgen and uses a module proxy")
	}
	hookgen, proxy := usermodule.BuildHookgen(t), t.TempDir()
	env := usermodule.ProxyEnv(t, proxy)
	publish := func(path, version, requires string, files map[string]string) *usermodule.Module {
		t.Helper()
		m := usermodule.New(t, env...)
		if m.Init(path); requires == "" {
			m.Write("go.mod", "module "+path+"\n\ngo 1.26.0\n")
		}
		for _, r := range strings.Fields(requires) {
			m.Run("go", "mod", "edit", "-require="+r+"@"+version)
		}
		for name, text := range files {
			m.Write(name, text)
		}
		if requires != "" {
			m.Run("go", "mod", "edit", "-replace=example.com/address=../address")
			m.Run(hookgen)
		}
		if err := moduleproxy.Add(proxy, path, version, m.Dir, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		return m
	}
	const spec = `package mail

import (
	"example.com/address"
	"example.com/mail/post"

	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	BeforeSend(Message) (Refuse, spec.FailClosed)
}

type Message struct {
	To    address.Address
	Stamp post.Stamp
}

type Refuse struct{ Reason string }
`
	const shop = `package shop

import (
	"example.com/mail"

	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	mail.Points
	BeforeSell(Item) (Refuse, spec.FailClosed)
}

type Item struct{ Name string }

type Refuse struct{ Reason string }
`
	var local *usermodule.Module
	for version, gone := range map[string]string{"v1.0.0": ", Gone", "v1.1.0": ""} {
		publish("example.com/address", version, "", map[string]string{
			"address.go": "package address\n\ntype Address struct{ Name" + gone + " string }\n",
		})
		publish("example.com/mail/post", version, "", map[string]string{
			"post.go": "package post\n\ntype Stamp struct{ Price" + gone + " int }\n",
		})
		m := publish("example.com/mail", version, "example.com/address example.com/mail/post",
			map[string]string{"spec.go": spec})
		if gone == "" {
			local = m
		}
		publish("example.com/shop", version, "example.com/mail example.com/address example.com/mail/post",
			map[string]string{"spec.go": shop})
	}
	plugin := func(requires, guard string) *usermodule.Module {
		m := usermodule.New(t, env...)
		m.Init("example.com/guard")
		m.Write("guard/guard.go", guard)
		m.Run("go", "mod", "edit", "-require="+requires)
		m.Run("go", "mod", "tidy")
		return m
	}
	copied := func(to *usermodule.Module, dir string, from *usermodule.Module) *usermodule.Module {
		t.Helper()
		if err := os.CopyFS(to.In(dir).Dir, os.DirFS(from.Dir)); err != nil {
			t.Fatal(err)
		}
		return to.In(dir)
	}
	guarding := plugin("example.com/mail@v1.0.0", guard)
	selling := plugin("example.com/shop@v1.0.0", strings.NewReplacer("mail.Message", "shop.Item", "mail", "shop",
		"BeforeSend", "BeforeSell").Replace(guard))
	breaking := func(m *usermodule.Module, against string) string {
		out, _ := m.Try(hookgen, "breaking", "-for", "./guard", "-against", against)
		return out
	}
	const gone = "the field Gone of ./post.Stamp is gone"
	found := breaking(guarding, "example.com/mail@v1.1.0")
	if !strings.Contains(found, "not compared") || !strings.Contains(found, "example.com/mail/post@v1.1.0)") {
		t.Errorf("the types that are not in the module cache are not named:\n%s", found)
	}
	guarding.Run("go", "mod", "download", "example.com/address@v1.1.0", "example.com/mail/post@v1.1.0")

	work := usermodule.New(t, append(env, "GOWORK=", "GOFLAGS=")...)
	inWork := copied(work, "guard", guarding)
	copied(work, "mail", local)
	work.Run("go", "work", "init", "./guard", "./mail")

	replaced := usermodule.New(t, env...)
	inReplaced := copied(replaced, "guard", guarding)
	copied(replaced, "mail", local)
	inReplaced.Run("go", "mod", "edit", "-replace=example.com/mail=../mail")
	inReplaced.Run("go", "mod", "tidy")

	for _, c := range []struct {
		name    string
		in      *usermodule.Module
		against string
		want    []string
		hidden  string
	}{
		{"a nested module, and one that the program replaces", guarding, "example.com/mail@v1.1.0",
			[]string{gone, "the field Gone of example.com/address.Address is gone"}, "hookgen:"},
		{"a workspace", inWork, "example.com/mail@v1.0.0", []string{gone}, "hookgen:"},
		{"a module in another directory", inReplaced, "example.com/mail@v1.0.0", []string{gone}, "hookgen:"},
		{"a spec that extends one of another module", selling, "example.com/shop@v1.1.0", []string{
			"the spec extends example.com/mail, which changes from example.com/mail@v1.0.0 to example.com/mail@v1.1.0",
		}, "Gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := breaking(c.in, c.against)
			for _, want := range c.want {
				if !strings.Contains(found, want) {
					t.Errorf("no %q in\n%s", want, found)
				}
			}
			if strings.Contains(found, c.hidden) {
				t.Errorf("%q is in\n%s", c.hidden, found)
			}
		})
	}
	inReplaced.Run("go", "mod", "vendor")
	vendoring := usermodule.New(t, append(env, "GOFLAGS=-mod=vendor")...)
	vendoring.Dir = inReplaced.Dir
	if found := breaking(vendoring, "example.com/mail@v1.0.0"); !strings.Contains(found, gone) {
		t.Errorf("with a folder vendor, no %q in\n%s", gone, found)
	}
}
