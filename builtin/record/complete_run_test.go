package record_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

var update = flag.Bool("update", false, "write the files of the complete run anew")

// completeTurns are answers of a model with each field of a reply.
func completeTurns(clock *looptest.Clock) []looptest.Turn {
	return []looptest.Turn{
		looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			clock.Advance(2 * time.Second)
			return agent.LLMResponse{
				Content: "Let me look, password=hunter2.", Reasoning: "First look.",
				Model: "m-1", FinishReason: "tool_calls", ID: "r1",

				Usage: agent.Usage{Input: 10, Output: 4, CacheRead: 3, Cost: 0.5},
				ToolCalls: []agent.ToolCallRequest{
					{ID: "a", Name: "look", Args: []byte(`{"at":"door"}`)},
					{ID: "c", Name: "burn", Args: []byte(`{}`)}, {ID: "d", Name: "wait", Args: []byte(`{"s":1}`)},
				},
			}, nil
		}),
		looptest.Reply("It is done?").Uses(agent.Usage{Input: 20, Output: 2}).Finish("stop"),
		looptest.Call("open", `{"it":"door"}`),
		looptest.Call("ask", `{"who":"ann"}`),
		looptest.Reply("It is done."),
	}
}

// completeHooks decide in each way that records show.
func completeHooks() []agent.Hook {
	rejected := false
	return []agent.Hook{
		agent.BriefingFunc(func(context.Context, *agent.Run, agent.Step) ([]string, error) {
			return []string{"Be brief."}, nil
		}),
		agent.BeforeToolFunc(func(
			_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
		) (agent.BeforeToolOutcome, error) {
			switch call.Name {
			case "wait":
				return agent.SkipTool{Result: agent.ToolCallResult{Output: "waited"}, Reason: "no time"}, nil
			case "look":
				call.Args = []byte(`{"at":"the door"}`)
				return agent.ReplaceBeforeTool(call, "article"), nil
			}
			return nil, nil
		}),
		agent.OnPermissionFunc(func(
			_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
		) (agent.OnPermissionOutcome, error) {
			switch call.Name {
			case "burn":
				return agent.Deny{Reason: "no fire"}, nil
			case "ask":
				return agent.Ask{Prompt: "ask ann?", Reason: "she sleeps"}, nil
			}
			return nil, nil
		}),
		agent.AfterToolFunc(func(
			_ context.Context, _ *agent.Run, r agent.ToolCallResult,
		) (agent.AfterToolOutcome, error) {
			if r.Call.Name != "look" {
				return nil, nil
			}
			r.Context = append(r.Context, "the door is old")
			return agent.ReplaceAfterTool(r, "history"), nil
		}),
		agent.CheckDoneFunc(func(context.Context, *agent.Run, agent.DoneRequest) (agent.CheckDoneOutcome, error) {
			if rejected {
				return nil, nil
			}
			rejected = true
			return agent.RejectDone{Feedback: "say it as a statement", Reason: "a question"}, nil
		}),
	}
}

// One run with every kind of decision must leave the same files, with each field, in each recorder.
func TestRecordersWriteEveryField(t *testing.T) {
	dir := t.TempDir()
	clock := looptest.NewClock(time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC))
	episodes := &memory.Facts{Share: share.Everyone}
	hooks := append(completeHooks(),
		&record.Provenance{Dir: filepath.Join(dir, "provenance"), OneRun: true, Snapshot: true},
		&record.Audit{Path: filepath.Join(dir, "audit.jsonl"), Points: []string{record.AllPoints}},
		&record.Episodes{Store: episodes, Classify: record.FailureSignal},
		&record.Summary{Dir: filepath.Join(dir, "summary")})
	ran := looptest.Harness{
		Agent: &loop.Agent{Clock: clock, Name: "porter", Approver: fixture.ApproverFunc(
			func(context.Context, agent.Question) (agent.Approval, error) {
				return agent.Approval{Allow: true, By: "bob"}, nil
			})},
		Turns: completeTurns(clock),
		Tools: []agent.Tool{
			&looptest.Tool{Name: "look", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
				return "error: it is dark", nil
			}},
			&looptest.Tool{Name: "open",
				Err: errors.New("it is locked, token=sk-ant-api03-" + strings.Repeat("Ab3", 31) + "AA")},
			&looptest.Tool{Name: "burn"}, &looptest.Tool{Name: "wait"}, &looptest.Tool{Name: "ask", Result: "yes"},
		},
		Hooks: hooks,
	}.Do(t, t.Context(), loop.Request{
		Task: "Open the door.", ID: "r1", Seed: 7, Conversation: "c", User: "ann", Tenant: "acme",
		Messages: []agent.Message{
			{Role: agent.RoleUser, Content: "See", Parts: []agent.Part{{MediaType: "image/png", Data: []byte("1234")}}},
			{Role: agent.RoleAssistant, Content: "I see.", Reasoning: "a picture"},
		},
	})
	if ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	all, err := memory.Episodes(t.Context(), episodes, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(all) {
		if err := atomicfile.AppendLine(filepath.Join(dir, "episodes.jsonl"), jsonx.Encode(e)); err != nil {
			t.Fatal(err)
		}
	}
	got := normalised(t, dir)
	const golden = "testdata/complete_run.txt"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := fixture.ReadFile(t, golden)
	if !bytes.Equal(got, want) {
		gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range gotLines {
			if i >= len(wantLines) || gotLines[i] != wantLines[i] {
				t.Fatalf("line %d is\n%s\nwant\n%s", i+1, gotLines[i], wantLines[min(i, len(wantLines)-1)])
			}
		}
		t.Fatalf("%d lines, want %d", len(gotLines), len(wantLines))
	}
}

// What differs in each run: identities, hashes, and places in the source.
var varying = regexp.MustCompile(
	`"(hash|prev|log)":"[^"]*"|"time":"[^"]*","spec":"[^"]*"|"site":"[^"]*"|"duration_ms":\d+\.\d+|` +
		`"(?:elapsed|elapsed_ns|duration_ns)":\d+|[0-9a-f]{16,64}`)

// The hooks that took long on a busy machine.
var slow = regexp.MustCompile(`"slow":\[[^\]]*\],`)

// normalised returns the files below dir, each after its name.
func normalised(t *testing.T, dir string) []byte {
	var b bytes.Buffer
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		name := varying.ReplaceAllString(path, "X")
		b.WriteString("== " + name + "\n")
		data := slow.ReplaceAll(fixture.ReadFile(t, filepath.Join(dir, path)), nil)
		data = varying.ReplaceAllFunc(data, func(m []byte) []byte {
			key, _, isField := bytes.Cut(m, []byte(":"))
			if isField {
				return append(bytes.Clone(key), `:"X"`...)
			}
			return []byte("X")
		})
		b.Write(append(bytes.TrimSpace(data), '\n'))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
