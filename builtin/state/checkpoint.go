package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Checkpoint saves the progress of a run every few steps, so that the run can be resumed after a crash.
//
// For example, a run of 40 steps is killed in step 23. With the default Every of 5, the checkpoint of step 20 is in the
// store, and the next run continues there. Set Resume to do this automatically, or call [Latest] and pass its
// conversation and counters to the next request yourself.
//
// A checkpoint is a [CheckpointState], saved after each successful step whose number is a multiple of Every. Its key is
// Name/step_N. If Name is empty, the identity of the conversation is used instead; concurrent runs must use different
// names. Sub-runs are not saved: after a crash their call is made again.
//
// With Resume, a run that starts without messages takes over the conversation of the last checkpoint. It continues the
// step numbers, and deletes the checkpoints when it completes. Its task is left out if the conversation already
// contains it.
//
// A checkpoint is not redacted, because a resumed run needs the original data. A failure to save is reported and does
// not affect the run. Checkpoint keeps separate state for each run and is safe for concurrent use if its Store is. Bind
// panics if Store is nil or Every is negative.
type Checkpoint struct {
	Store   agent.Store
	Every   int    // steps between checkpoints; 0: 5
	Name    string // prefix of the keys; "": the identity of the conversation
	Resume  bool
	OnError func(error) // receives failures to save; nil: they are logged

	runs   hookkit.PerRun[checkpointRun]
	failed kit.Reporter
}

const checkpointEvery = 5

// checkpointRun is the state of one run.
type checkpointRun struct {
	offset      int // steps of earlier runs that this run continues
	saved       int // number of the last step that was recorded
	task        string
	system      string
	temperature *float64
	entries     []string
	theory      string
	results     map[string]string
}

// CheckpointState is the progress of a run after a step.
type CheckpointState struct {
	StepNumber       int                    `json:"step_number"`
	SessionLog       CheckpointLog          `json:"session_log_data"`
	Conversation     CheckpointConversation `json:"conversation_data"`
	Config           CheckpointConfig       `json:"config_snapshot"`
	ToolResultsStore map[string]string      `json:"tool_results_store"` // result of each call, by call ID
	Counters         CheckpointCounters     `json:"counters"`
	Metadata         map[string]string      `json:"metadata"`   // keys: run, agent, task
	CreatedAt        float64                `json:"created_at"` // seconds since 1970
}

// CheckpointLog describes the steps so far, one line for each step.
type CheckpointLog struct {
	Entries       []string `json:"entries"`
	CurrentTheory string   `json:"current_theory"` // the last value of the argument __theory__ of a call
}

// CheckpointConversation is the stored conversation.
type CheckpointConversation struct {
	ID       string          `json:"id"`
	Messages []agent.Message `json:"messages"`
}

// CheckpointConfig holds the limits and settings of the run.
type CheckpointConfig struct {
	MaxSteps        int      `json:"max_steps"`
	MaxTokens       int      `json:"max_tokens"`
	Temperature     *float64 `json:"temperature"`
	SystemPrompt    string   `json:"system_prompt"`
	QueriesUsed     int      `json:"queries_used"`     // calls of the model
	BudgetRemaining *int     `json:"budget_remaining"` // tokens; null: no limit
}

// CheckpointCounters are the counters of the run, with which the next run continues.
type CheckpointCounters struct {
	Steps      int         `json:"steps"`
	ModelCalls int         `json:"model_calls"`
	Usage      agent.Usage `json:"usage"`
	Rejections int         `json:"rejections"`
}

// Bind adds the hook to its points.
func (c *Checkpoint) Bind(h *agent.Hooks) {
	var errs []error
	if c.Store == nil {
		errs = append(errs, errors.New("Store is nil; give it a store, such as state.Dir{Path: ...}"))
	}
	if c.Every < 0 {
		errs = append(errs, fmt.Errorf("Every is %d; give a number of steps, 0 for %d", c.Every, checkpointEvery))
	}
	kit.MustConfig("state.Checkpoint", errors.Join(errs...))
	name := hookkit.Named("state.Checkpoint")
	if c.Resume {
		h.OnRunStart.Add(agent.OnRunStartFunc(c.resume), name, hookkit.Priority(hookkit.InputShape))
		h.OnRunEnd.Add(agent.OnRunEndFunc(c.done), name)
	}
	h.OnRunStart.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.OnRunStartFired[agent.RunStart]) {
		c.runs.Do(run, func(r *checkpointRun) { r.task = cmp.Or(r.task, f.Payload.Task) })
	}, name)
	h.BeforeLLM.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.BeforeLLMFired[agent.LLMRequest]) {
		if run.Parent() == "" {
			c.runs.Do(run, func(r *checkpointRun) { r.system, r.temperature = systemPrompt(f.Final), f.Final.Temperature })
		}
	}, name)
	h.AfterStep.ObserveFunc(func(ctx context.Context, run *agent.Run, f agent.AfterStepFired[agent.StepResult]) {
		if run.Parent() == "" {
			c.step(ctx, run, f.Payload)
		}
	}, name)
}

func systemPrompt(req agent.LLMRequest) string {
	for _, m := range req.Messages {
		if m.Role == agent.RoleSystem {
			return m.Content
		}
	}
	return ""
}

func (c *Checkpoint) key(run *agent.Run, step string) string {
	name := c.Name
	if name == "" {
		name = kit.ConversationID(run)
	}
	return checkpointKey(name, step)
}

func checkpointKey(name, step string) string {
	if name == "" {
		return "step_" + step
	}
	return name + "/step_" + step
}

// step records a step and saves a checkpoint if one is due.
func (c *Checkpoint) step(ctx context.Context, run *agent.Run, s agent.StepResult) {
	every := cmp.Or(c.Every, checkpointEvery)
	var state *CheckpointState
	c.runs.Do(run, func(r *checkpointRun) {
		if s.Step.Number <= r.saved { // the hook is registered twice
			return
		}
		r.saved = s.Step.Number
		r.note(s)
		if s.Err == "" && (r.offset+s.Step.Number)%every == 0 {
			state = r.state(run, s)
		}
	})
	if state == nil {
		return
	}
	data, err := json.Marshal(state)
	if err == nil {
		err = c.Store.Put(ctx, c.key(run, strconv.Itoa(state.StepNumber)), data)
	}
	if err != nil {
		c.failed.Report("state.Checkpoint", c.OnError, fmt.Errorf("step %d is not saved: %w", state.StepNumber, err))
	}
}

func (r *checkpointRun) note(s agent.StepResult) {
	if r.results == nil {
		r.results = make(map[string]string)
	}
	line := fmt.Sprintf("#%d", r.offset+s.Step.Number)
	for _, result := range s.Results {
		line += " " + shorten.Line(result.Call.Name, 60) + ": " + shorten.Line(result.Content(), 120)
		r.results[result.Call.ID] = result.Content()
	}
	if s.Response != nil {
		if len(s.Results) == 0 {
			line += " " + shorten.Line(s.Response.Content, 120)
		}
		for _, call := range s.Response.ToolCalls {
			var args struct {
				Theory string `json:"__theory__"`
			}
			if json.Unmarshal(call.Args, &args) == nil && args.Theory != "" {
				r.theory = args.Theory
			}
		}
	}
	if s.Err != "" {
		line += " " + shorten.Line(s.Err, 120)
	}
	r.entries = append(r.entries, line)
}

func (r *checkpointRun) state(run *agent.Run, s agent.StepResult) *CheckpointState {
	count := kit.Env(run).Count()
	state := &CheckpointState{
		StepNumber:   r.offset + s.Step.Number,
		SessionLog:   CheckpointLog{slices.Clone(r.entries), r.theory},
		Conversation: CheckpointConversation{kit.ConversationID(run), kit.Messages(run)},
		Config: CheckpointConfig{
			MaxSteps: count.MaxSteps, MaxTokens: count.MaxTokens, Temperature: r.temperature, SystemPrompt: r.system,
			QueriesUsed: count.ModelCalls,
		},
		ToolResultsStore: maps.Clone(r.results),
		Counters:         CheckpointCounters{r.offset + s.Step.Number, count.ModelCalls, count.Usage, count.Rejections},
		Metadata:         map[string]string{"run": run.ID(), "agent": kit.Agent(run), "task": r.task},
		CreatedAt:        kit.UnixSeconds(kit.Env(run).Now()),
	}
	if count.MaxTokens > 0 {
		remaining := count.MaxTokens - count.Usage.Total()
		state.Config.BudgetRemaining = &remaining
	}
	return state
}

// resume takes over the conversation of the last checkpoint.
func (c *Checkpoint) resume(
	ctx context.Context, run *agent.Run, start agent.RunStart,
) (agent.OnRunStartOutcome, error) {
	if run.Parent() != "" || len(start.Messages) > 0 {
		return nil, nil
	}
	name := c.Name
	if name == "" {
		name = kit.ConversationID(run)
	}
	last, err := Latest(ctx, c.Store, name)
	switch {
	case errors.As(err, new(*agent.NotFound)):
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.runs.Do(run, func(r *checkpointRun) {
		r.offset = max(0, last.StepNumber-kit.Env(run).Count().Step)
		r.task, r.entries, r.theory = last.Metadata["task"], last.SessionLog.Entries, last.SessionLog.CurrentTheory
		r.results = last.ToolResultsStore
	})
	hasTask := func(m agent.Message) bool { return m.Role == agent.RoleUser && m.Content == start.Task }
	if slices.ContainsFunc(last.Conversation.Messages, hasTask) {
		start.Task = ""
	}
	start.Messages = last.Conversation.Messages
	return agent.ReplaceOnRunStart(start, fmt.Sprintf("continues after step %d", last.StepNumber)), nil
}

// done deletes the checkpoints of a completed run.
func (c *Checkpoint) done(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	if run.Parent() != "" || result.Err != "" || result.Forced() {
		return nil
	}
	keys, err := c.Store.Keys(ctx, c.key(run, ""))
	keys = slices.DeleteFunc(keys, func(key string) bool { _, ok := stepOf(key); return !ok })
	// Delete the last step last: if the program is killed meanwhile, the next run must not resume from an earlier step.
	slices.SortFunc(keys, func(a, b string) int {
		x, _ := stepOf(a)
		y, _ := stepOf(b)
		return cmp.Compare(x, y)
	})
	for _, key := range keys {
		err = errors.Join(err, c.Store.Delete(ctx, key))
	}
	return err
}

// stepOf returns the step number in a key.
func stepOf(key string) (int, bool) {
	digits := key[strings.LastIndex(key, "_")+1:]
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && strings.HasSuffix(key, "step_"+strconv.Itoa(n))
}

// Latest returns the checkpoint with the highest step. The name is Checkpoint.Name, or the identity of the conversation
// if that is empty. Unreadable checkpoints are skipped and logged. Without a readable checkpoint, the error is a
// *agent.NotFound.
func Latest(ctx context.Context, store agent.Store, name string) (CheckpointState, error) {
	prefix := checkpointKey(name, "")
	keys, err := store.Keys(ctx, prefix)
	if err != nil {
		return CheckpointState{}, fmt.Errorf("the checkpoints cannot be listed: %w", err)
	}
	var steps []int
	for _, key := range keys {
		if n, ok := stepOf(key); ok && key == checkpointKey(name, strconv.Itoa(n)) {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	for _, n := range slices.Backward(steps) {
		key := checkpointKey(name, strconv.Itoa(n))
		data, err := store.Get(ctx, key)
		var state CheckpointState
		if err == nil {
			err = json.Unmarshal(data, &state)
		}
		if err == nil && state.StepNumber != n {
			err = fmt.Errorf("it is of step %d", state.StepNumber)
		}
		if err == nil {
			return state, nil
		}
		if ctx.Err() != nil {
			return CheckpointState{}, err
		}
		slog.WarnContext(ctx, "state.Checkpoint: an unreadable checkpoint is skipped",
			"key", shorten.To(key, shorten.SummaryChars), "error", err)
	}
	return CheckpointState{}, &agent.NotFound{Key: prefix}
}
