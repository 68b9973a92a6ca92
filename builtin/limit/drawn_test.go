package limit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestEndlessModelsStayWithinDrawnLimits runs a model that never finishes, with drawn limits and replies.
func TestEndlessModelsStayWithinDrawnLimits(t *testing.T) {
	const runs = 300
	kept := 0
	for n := range uint64(runs) {
		rand := rand.New(rand.NewPCG(1, n))
		steps, tokens, calls := rand.IntN(12), rand.IntN(3000), rand.IntN(6)
		most := time.Duration(rand.IntN(20)) * time.Second
		clock := looptest.NewClock(time.Unix(1_700_000_000, 0))
		start := clock.Now()
		made := map[string]int{}
		asked, used, last, late := 0, 0, 0, false
		endless := looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
			asked++
			late = late || used >= tokens || asked > 1 && clock.Now().Sub(start) >= most
			last = rand.IntN(400)
			used += last
			clock.Advance(time.Duration(rand.IntN(3000)) * time.Millisecond)
			reply := agent.LLMResponse{Usage: agent.Usage{Input: last / 2, Output: last - last/2}}
			for i := range rand.IntN(4) {
				name := "tool" + strconv.Itoa(rand.IntN(3))
				reply.ToolCalls = append(reply.ToolCalls, agent.ToolCallRequest{ID: fmt.Sprint(req.Step, "-", i), Name: name})
			}
			if len(reply.ToolCalls) == 0 {
				reply.ToolCalls = []agent.ToolCallRequest{{ID: fmt.Sprint(req.Step), Name: "tool0"}}
			}
			return reply, nil
		})
		harness := looptest.Harness{
			Agent: &loop.Agent{Clock: clock, Limits: loop.Limits{Parallel: 1}},
			Hooks: []agent.Hook{
				&limit.Steps{Max: limit.AtMost(steps)}, &limit.Tokens{Max: limit.AtMost(tokens)},
				&limit.Time{Max: limit.AtMost(most)}, &limit.Tools{Default: limit.AtMost(calls)},
			},
		}
		for range steps + 2 {
			harness.Turns = append(harness.Turns, endless)
		}
		for i := range 3 {
			name := "tool" + strconv.Itoa(i)
			harness.Tools = append(harness.Tools, loop.Tool(name, "", func(context.Context, struct{}) (string, error) {
				made[name]++
				return "again", nil
			}))
		}
		ran := harness.Run(t, "never end")
		over := asked > steps || late
		for _, times := range made {
			over = over || times > calls
		}
		if over {
			t.Errorf("run %d: %d of %d steps, %d of %d tokens, calls %v of %d, too late: %t, ended by %+v",
				n, asked, steps, used, tokens, made, calls, late, ran.Stop)
			continue
		}
		kept++
	}
	t.Attr("tried", strconv.Itoa(runs))
	t.Attr("kept", strconv.Itoa(kept))
}
