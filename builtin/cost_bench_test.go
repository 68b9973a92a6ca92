package builtin_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/generated/agent"
)

var costsFile = flag.String("costs", "", "the `file` to which BenchmarkEveryHook writes its table")

// costsCommand makes docs/evidence/costs.md.
const costsCommand = "go test ./builtin -run '^$' -bench EveryHook -benchtime 10ms -count 5" +
	" -costs ../docs/evidence/costs.md"

// A cost is that of one fire of a point with one hook.
type cost struct {
	hook, point string
	ns          float64
	allocs      int64
}

// BenchmarkEveryHook measures the time and allocations that each hook adds to a fire of each of its points, if the hook
// does not intervene. With -costs it writes the table of docs/evidence/costs.md: the fastest of the runs that -count
// asks for.
func BenchmarkEveryHook(b *testing.B) {
	var costs []cost
	eachBound(b, func(name string, f fire) {
		best := cost{name, f.point, math.Inf(1), math.MaxInt64}
		b.Run(name+"/"+f.point, func(b *testing.B) {
			b.ReportAllocs()
			h := new(agent.Hooks)
			h.Use(ready(b)[name]())
			run := agent.NewRun(&agent.Env{Agent: "bench"})
			ctx := b.Context()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n := int64(0)
			for b.Loop() {
				f.fire(ctx, h, run)
				n++
			}
			runtime.ReadMemStats(&after)
			best.ns = min(best.ns, float64(b.Elapsed().Nanoseconds())/float64(n))
			best.allocs = min(best.allocs, int64(after.Mallocs-before.Mallocs)/n)
		})
		costs = append(costs, best)
	})
	if *costsFile == "" {
		return
	}
	var table strings.Builder
	fmt.Fprintf(&table, "# What hooks cost\n\n"+
		"One fire of a point with one hook that lets the run go on, on %s/%s with %d processors. Made by\n\n\t%s\n\n"+
		"Times on a shared machine are good for their order of magnitude. Hooks that write files write them.\n\n"+
		"| hook | point | ns per fire | allocations |\n|---|---|---:|---:|\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), costsCommand)
	for _, c := range costs {
		fmt.Fprintf(&table, "| %s | %s | %.0f | %d |\n", c.hook, c.point, c.ns, c.allocs)
	}
	if err := os.WriteFile(*costsFile, []byte(table.String()), 0o644); err != nil {
		b.Fatal(err)
	}
}

// A new hook has its line in docs/evidence/costs.md.
func TestPageOfCostsNamesEveryHook(t *testing.T) {
	page, err := os.ReadFile("../docs/evidence/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); len(cells) == 4 {
			got = append(got, strings.TrimPrefix(cells[0], "| ")+" | "+cells[1])
		}
	}
	want = append(want, "hook | point")
	eachBound(t, func(name string, f fire) { want = append(want, name+" | "+f.point) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/evidence/costs.md differs (-want +got); run\n%s\n%s", costsCommand, diff)
	}
}

// eachBound calls f with each hook and each point to which the hook binds itself.
func eachBound(t testing.TB, f func(name string, f fire)) {
	hooks := ready(t)
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		h := new(agent.Hooks)
		h.Use(hooks[name]())
		for _, at := range continuing {
			if bound(h, at.point) {
				f(name, at)
			}
		}
	}
}

func bound(h *agent.Hooks, point string) bool {
	for _, p := range h.Points() {
		if p.Name == point {
			return len(p.Hooks())+len(p.Observers()) > 0
		}
	}
	return false
}

// A fire fires a point with a payload on which the hooks do not intervene.
type fire struct {
	point string
	fire  func(context.Context, *agent.Hooks, *agent.Run)
}

// continuing are the fires of the frequent points.
var continuing = []fire{
	{"OnRunStart", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.OnRunStart.Fire(ctx, run, &agent.RunStart{Task: "go"})
	}},
	{"ShouldStop", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.ShouldStop.Fire(ctx, run, agent.Step{Number: 1, Max: 20})
	}},
	{"BeforeStep", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.BeforeStep.Fire(ctx, run, agent.Step{Number: 1, Max: 20})
	}},
	{"ShouldCompact", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.ShouldCompact.Fire(ctx, run, agent.ContextUse{Tokens: 100, Window: 200_000})
	}},
	{"Briefing", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.Briefing.Fire(ctx, run, agent.Step{Number: 1, Max: 20})
	}},
	{"BeforeLLM", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.BeforeLLM.Fire(ctx, run, &agent.LLMRequest{Step: 1,
			Messages: []agent.Message{{Role: agent.RoleUser, Content: "go"}}})
	}},
	{"AroundLLM", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.AroundLLM.Fire(ctx, run, agent.LLMRequest{Step: 1},
			func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				return agent.LLMResponse{Content: "x"}, nil
			})
	}},
	{"AfterLLM", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.AfterLLM.Fire(ctx, run, &agent.LLMResponse{Step: 1, Content: "fine"})
	}},
	{"BeforeTool", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.BeforeTool.Fire(ctx, agent.NewRun(run.Env),
			&agent.ToolCallRequest{ID: "1", Name: "look", Args: []byte(`{"at":"a"}`), Step: 1})
	}},
	{"OnPermission", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.OnPermission.Fire(ctx, run, agent.ToolCallRequest{ID: "1", Name: "look", Args: []byte(`{"at":"a"}`), Step: 1})
	}},
	{"AroundTool", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.AroundTool.Fire(ctx, run, agent.ToolCallRequest{ID: "1", Name: "look"},
			func(context.Context, agent.ToolCallRequest) (agent.ToolCallResult, error) {
				return agent.ToolCallResult{Output: "x"}, nil
			})
	}},
	{"AfterTool", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.AfterTool.Fire(ctx, agent.NewRun(run.Env),
			&agent.ToolCallResult{Call: agent.ToolCallRequest{ID: "1", Name: "look"}, Output: `{"a":1}`, Attempts: 1})
	}},
	{"AfterStep", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.AfterStep.Fire(ctx, agent.NewRun(run.Env), agent.StepResult{Step: agent.Step{Number: 1}})
	}},
	{"CheckDone", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.CheckDone.Fire(ctx, agent.NewRun(run.Env), &agent.DoneRequest{Answer: "{}"})
	}},
	{"OnStop", func(ctx context.Context, h *agent.Hooks, run *agent.Run) { h.OnStop.Fire(ctx, run, agent.Stopping{}) }},
	{"BeforeRunEnd", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.BeforeRunEnd.Fire(ctx, run, &agent.AgentResult{Reply: "x"})
	}},
	{"OnRunEnd", func(ctx context.Context, h *agent.Hooks, run *agent.Run) {
		h.OnRunEnd.Fire(ctx, run, agent.AgentResult{Reply: "x"})
	}},
}
