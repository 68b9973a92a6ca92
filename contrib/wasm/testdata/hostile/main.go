// Command hostile is a guest of the tests. Each point is named after its attack.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hookgen/hookgen/contrib/wasm/guest"
	"github.com/hookgen/hookgen/hookkit/wire"
)

func init() { guest.Serve(handler{}) }

func main() {}

type handler struct{}

func (handler) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Protocol: wire.Protocol, Spec: "hostile", Points: []string{"count"}}, nil
}

var (
	calls int
	kept  [][]byte
)

func (handler) Call(ctx context.Context, q wire.Request) (wire.Reply, error) {
	calls++
	act := acts[q.Point]
	if act == nil {
		return wire.Reply{}, fmt.Errorf("no act is called %q", q.Point)
	}
	return wire.Reply{Reason: act(ctx, q)}, nil
}

// errs joins the errors of all tries. A try that succeeded is "ok".
func errs(all ...error) string {
	var texts []string
	for _, err := range all {
		text := "ok"
		if err != nil {
			text = err.Error()
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

var acts = map[string]func(context.Context, wire.Request) string{
	"echo":  func(_ context.Context, q wire.Request) string { return string(q.Payload) },
	"count": func(context.Context, wire.Request) string { return fmt.Sprint(calls) },
	"deadline": func(ctx context.Context, q wire.Request) string {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(q.Wait/2)*time.Millisecond)
		defer cancel()
		<-ctx.Done()
		return ctx.Err().Error()
	},
	"files": func(context.Context, wire.Request) string {
		_, read := os.ReadFile("/etc/passwd")
		_, list := os.ReadDir(".")
		_, parent := os.Open("../../etc/passwd")
		return errs(read, list, parent, os.WriteFile("/tmp/x", nil, 0o600), os.Mkdir("x", 0o700), os.Remove("/etc/passwd"))
	},
	"network": func(context.Context, wire.Request) string {
		_, dial := net.DialTimeout("tcp", "127.0.0.1:80", time.Second)
		_, listen := net.Listen("tcp", "127.0.0.1:0")
		if listen == nil {
			listen = errors.New("only within the guest")
		}
		_, lookup := net.LookupHost("localhost")
		if lookup == nil {
			lookup = errors.New("only within the guest")
		}
		return errs(dial, listen, lookup)
	},
	"process": func(context.Context, wire.Request) string {
		known := fmt.Errorf("%d variables, %d arguments", len(os.Environ()), len(os.Args))
		return errs(exec.Command("/bin/true").Run(), known)
	},
	"loop": func(context.Context, wire.Request) string {
		for {
			calls++
		}
	},
	"grow": func(context.Context, wire.Request) string {
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	},
	"stack": func(context.Context, wire.Request) string {
		var f func(int) int
		f = func(n int) int { return f(n+1) + n }
		return fmt.Sprint(f(calls))
	},
	"panic": func(context.Context, wire.Request) string { panic("a panic of the guest") },
	"exit":  func(context.Context, wire.Request) string { os.Exit(3); return "" },
	"long":  func(context.Context, wire.Request) string { return strings.Repeat("x", 2<<20) },
	"output": func(context.Context, wire.Request) string {
		for {
			fmt.Println(strings.Repeat("x", 1<<16))
			fmt.Fprintln(os.Stderr, strings.Repeat("y", 1<<16))
		}
	},
	"sleep": func(context.Context, wire.Request) string { time.Sleep(time.Hour); return "" },
	"wait":  func(context.Context, wire.Request) string { select {} },
}
