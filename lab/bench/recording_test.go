package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A recordedFire fires one payload, and encodes it by hand.
type recordedFire struct {
	payload string
	fire    func(h *agent.Hooks, run *agent.Run) error
	plain   func() ([]byte, error)
}

// recordedFires returns payloads of three sizes.
func recordedFires() []recordedFire {
	call := agent.ToolCallRequest{ID: "call_1", Name: "read_file", Args: json.RawMessage(`{"path":"go"}`), Step: 3}
	fires := []recordedFire{{
		"a call of 64 bytes",
		func(h *agent.Hooks, run *agent.Run) error {
			c := call
			exit, err := h.BeforeTool.Fire(context.Background(), run, &c)
			if exit != nil || c.ID != call.ID {
				return fmt.Errorf("%v about %v without hooks", exit, c)
			}
			return err
		},
		func() ([]byte, error) { return json.Marshal(call) },
	}}
	for _, size := range []int{4, 100} {
		result := agent.ToolCallResult{Call: call, Output: strings.Repeat("package main // of 32 bytes, OK\n", size*1000/32)}
		fires = append(fires, recordedFire{
			fmt.Sprintf("an output of %d KB", size),
			func(h *agent.Hooks, run *agent.Run) error {
				r := result
				exit, err := h.AfterTool.Fire(context.Background(), run, &r)
				if exit != nil || r.Call.ID != call.ID {
					return fmt.Errorf("%v about %v without hooks", exit, r.Call)
				}
				return err
			},
			func() ([]byte, error) { return json.Marshal(result) },
		})
	}
	return fires
}

// BenchmarkRecord compares recorded fires with a plain line: json.Marshal of the payload and one call of Write on a file
// of the same kind. It has no lock, and does not notice that the file was moved or ends in the middle of a line.
func BenchmarkRecord(b *testing.B) {
	for _, f := range recordedFires() {
		contestants, closeAll, err := f.contestants(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range contestants {
			b.Run(f.payload+"/"+c.name, func(b *testing.B) { c.loop(b.N) })
		}
		if err := closeAll(); err != nil {
			b.Error(err)
		}
	}
}

// contestants returns the fires and the plain line, each with a file of its own.
func (f recordedFire) contestants(dir string) ([]contestant, func() error, error) {
	files := map[string]*os.File{}
	for _, name := range []string{"lines", "plain"} {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, err
		}
		files[name] = file
	}
	logPath := filepath.Join(dir, "log")
	log, err := hooklog.Open(logPath)
	if err != nil {
		return nil, nil, err
	}
	recorded := func(name string, s hooklog.Sink) contestant {
		hooks := new(agent.Hooks)
		hooks.ObserveAny(agent.Record(s))
		run := agent.NewRun(new(agent.Env))
		return contestant{name: name, loop: func(n int) {
			for range n {
				if err := f.fire(hooks, run); err != nil {
					panic(err)
				}
			}
		}}
	}
	plain := contestant{name: "json.Marshal and Write", loop: func(n int) {
		for range n {
			line, err := f.plain()
			if err == nil {
				_, err = files["plain"].Write(append(line, '\n'))
			}
			if err != nil {
				panic(err)
			}
		}
	}}
	closeAll := func() error {
		for _, file := range files {
			if err := file.Close(); err != nil {
				return err
			}
		}
		if err := log.Close(); err != nil {
			return err
		}
		return os.Remove(logPath)
	}
	return []contestant{recorded("hooklog.Lines", hooklog.Lines(files["lines"])), recorded("hooklog.Open", log), plain},
		closeAll, nil
}
