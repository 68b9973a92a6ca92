package state

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Checkpoint saves the progress of a run every few steps, so that the run can be resumed after a crash.
//
// For example, a run of 40 steps is killed in step 23. With the default Every of 5, the checkpoint of step 20 is in the
// store, and the next run of the conversation continues there. Set Resume to do this automatically, or call [Latest]
// and pass its conversation and counters to the next request yourself.
//
// A checkpoint is saved after each successful step whose number is a multiple of Every. It holds the messages
// since the checkpoint before it, so that all of them together are about as long as the conversation. After a
// compaction, a checkpoint holds the whole conversation again, and the earlier ones are deleted. [Latest] joins them.
//
// The counters of the run are saved in every step, before the step and after the reply of the model. A run that resumes
// the same task restores them, so that a program that crashes again and again does not escape the limits of the agent.
// With another task, a run takes over the conversation and counts anew.
//
// Checkpoints belong to the conversation, user and tenant of the run. Name replaces the name of the conversation.
// Concurrent runs must use different names. A run without any name is not saved, which is reported. Sub-runs are not
// saved either: after a crash their call is made again.
//
// With Resume, a run that starts without messages takes over the conversation of the last checkpoint. It continues the
// step numbers, and deletes the checkpoints when it completes. Its task is left out if the conversation already
// contains it. A run that failed or that a limit stopped keeps its checkpoints, and so does a suspended run. That run
// continues with its own state instead, and its last step is saved when it is complete.
//
// A checkpoint is not redacted, because a resumed run needs the original data. A failure to save is reported and does
// not affect the run. Checkpoint keeps separate state for each run and is safe for concurrent use if its Store is. Bind
// panics if Store is nil or Every is negative.
type Checkpoint struct {
	Store   agent.Store
	Every   int    // steps between checkpoints; 0: 5
	Name    string // instead of the name of the conversation; "": that name
	Resume  bool
	OnError func(error) // receives failures to save; nil: they are logged

	runs   hookkit.PerRun[checkpointRun]
	failed kit.Reporter
}

const (
	checkpointEvery = 5
	checkpointKind  = "checkpoint"
	maxEntries      = 1000 // lines of the log of a checkpoint
)

// checkpointRun is the state of one run.
type checkpointRun struct {
	chain       string          // identifies the checkpoints that belong together
	offset      int             // steps of earlier runs that the step numbers of this run do not include
	saved       int             // number of the last step that was recorded
	begun       bool            // the chain has a checkpoint
	kept        []agent.Message // the conversation in the last checkpoint
	system      string
	was         checkpointTexts // of the last checkpoint
	task        string
	temperature *float64
	entries     []string // of the steps since the last checkpoint
	earlier     []string // of the steps before
	theory      string
	results     map[string]string // of the steps since the last checkpoint
}

// checkpointTexts are the texts that a checkpoint has only if they changed.
type checkpointTexts struct{ system, theory, task string }

// CheckpointState is the progress of a run after a step.
type CheckpointState struct {
	StepNumber       int                    `json:"step_number"`
	SessionLog       CheckpointLog          `json:"session_log_data"`
	Conversation     CheckpointConversation `json:"conversation_data"`
	Config           CheckpointConfig       `json:"config_snapshot"`
	ToolResultsStore map[string]string      `json:"tool_results_store"` // by call ID; since the last compaction
	Counters         CheckpointCounters     `json:"counters"`
	Metadata         map[string]string      `json:"metadata"`   // keys: run, agent, task
	CreatedAt        float64                `json:"created_at"` // seconds since 1970
}

// CheckpointLog describes the last 1000 steps so far, one line for each step.
type CheckpointLog struct {
	Entries       []string `json:"entries"`
	CurrentTheory string   `json:"current_theory"` // the last value of the argument __theory__ of a call
}

// CheckpointConversation is the stored conversation.
type CheckpointConversation struct {
	agent.Identity
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
	Steps      int            `json:"steps"`
	ModelCalls int            `json:"model_calls"`
	ToolCalls  int            `json:"tool_calls"`
	Tools      map[string]int `json:"tools,omitempty"` // answered calls by tool
	Usage      agent.Usage    `json:"usage"`
	Elapsed    time.Duration  `json:"elapsed_ns"`
	Rejections int            `json:"rejections"`
}

// countersOf returns the counters of a run.
func countersOf(run *agent.Run) CheckpointCounters {
	c := kit.Env(run).Count()
	return CheckpointCounters{c.Step, c.ModelCalls, c.ToolCalls, c.Tools, c.Usage, c.Elapsed, c.Rejections}
}

// A checkpointPart is a stored checkpoint. Its state has only the messages, entries and results since the part before
// it, and a text only if it changed.
type checkpointPart struct {
	CheckpointState
	Chain string `json:"chain"`
	First bool   `json:"first,omitempty"` // of its chain
	From  int    `json:"from"`            // the number of messages in the parts before it
}

// savedCounters are the counters that are stored in each step.
type savedCounters struct {
	Chain    string             `json:"chain"`
	Task     string             `json:"task_sha256"`
	Counters CheckpointCounters `json:"counters"`
}

func hashOf(task string) string {
	sum := sha256.Sum256([]byte(task))
	return hex.EncodeToString(sum[:])
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
		if _, ok := c.owner(run); !ok && run.Parent() == "" {
			c.report(errors.New("the run is not saved: its conversation has no name; set Name, or name it in the request"))
		}
	}, name)
	h.BeforeStep.ObserveFunc(func(ctx context.Context, run *agent.Run, _ agent.BeforeStepFired[agent.Step]) {
		c.saveCounters(ctx, run)
	}, name)
	h.BeforeLLM.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.BeforeLLMFired[agent.LLMRequest]) {
		c.runs.Do(run, func(r *checkpointRun) { r.system, r.temperature = systemPrompt(f.Final), f.Final.Temperature })
	}, name)
	h.AfterLLM.ObserveFunc(func(ctx context.Context, run *agent.Run, _ agent.AfterLLMFired[agent.LLMResponse]) {
		c.saveCounters(ctx, run)
	}, name)
	h.AfterStep.ObserveFunc(func(ctx context.Context, run *agent.Run, f agent.AfterStepFired[agent.StepResult]) {
		c.step(ctx, run, f.Payload)
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

// owner returns the identity to which the checkpoints of a run belong. It reports false for a run that is not saved.
func (c *Checkpoint) owner(run *agent.Run) (agent.Identity, bool) {
	owner := kit.Env(run).Identity()
	owner.Conversation = cmp.Or(c.Name, kit.ConversationID(run))
	return owner, owner.Conversation != "" && run.Parent() == ""
}

func partKey(owner agent.Identity, step int) string {
	return storekey.Of(checkpointKind, owner, "step", strconv.Itoa(step))
}

func countersKey(owner agent.Identity) string { return storekey.Of(checkpointKind, owner, "counters") }

func (c *Checkpoint) report(err error) { c.failed.Report("state.Checkpoint", c.OnError, err) }

// saveCounters saves the counters of a run.
func (c *Checkpoint) saveCounters(ctx context.Context, run *agent.Run) {
	owner, ok := c.owner(run)
	if !ok {
		return
	}
	saved := savedCounters{Counters: countersOf(run)}
	c.runs.Do(run, func(r *checkpointRun) { saved.Chain, saved.Task = r.chainFor(run), hashOf(r.task) })
	data, err := json.Marshal(saved)
	if err == nil {
		err = c.Store.Put(ctx, countersKey(owner), data)
	}
	if err != nil {
		c.report(fmt.Errorf("the counters of step %d are not saved: %w", saved.Counters.Steps, err))
	}
}

func (r *checkpointRun) chainFor(run *agent.Run) string {
	r.chain = cmp.Or(r.chain, run.ID())
	return r.chain
}

// step records a step and saves a checkpoint if one is due.
func (c *Checkpoint) step(ctx context.Context, run *agent.Run, s agent.StepResult) {
	owner, ok := c.owner(run)
	if !ok {
		return
	}
	var (
		part     *checkpointPart
		after    checkpointRun
		messages = kit.Messages(run)
	)
	c.runs.Do(run, func(r *checkpointRun) {
		if s.Step.Number <= r.saved || s.Suspended { // the hook is registered twice, or the step ends later
			return
		}
		r.saved = s.Step.Number
		r.note(s)
		if s.Err == "" && (r.offset+s.Step.Number)%cmp.Or(c.Every, checkpointEvery) == 0 {
			part = r.part(run, s, messages)
			after = *r
		}
	})
	if part == nil {
		return
	}
	part.Conversation.Identity = owner
	data, err := json.Marshal(part)
	if err == nil {
		err = c.Store.Put(ctx, partKey(owner, part.StepNumber), data)
	}
	if err == nil && part.First {
		err = c.deleteOthers(ctx, owner, part.StepNumber)
	}
	if err != nil {
		c.report(fmt.Errorf("step %d is not saved: %w", part.StepNumber, err))
		return
	}
	c.runs.Do(run, func(r *checkpointRun) {
		r.begun, r.kept = true, messages
		r.was = checkpointTexts{after.system, after.theory, after.task}
		r.earlier = lastEntries(slices.Concat(r.earlier, after.entries))
		r.entries, r.results = r.entries[len(after.entries):], nil
	})
}

// deleteOthers deletes all checkpoints of an owner except that of a step.
func (c *Checkpoint) deleteOthers(ctx context.Context, owner agent.Identity, step int) error {
	steps, err := stepsOf(ctx, c.Store, owner)
	for _, n := range steps {
		if n != step {
			err = errors.Join(err, c.Store.Delete(ctx, partKey(owner, n)))
		}
	}
	return err
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

func lastEntries(entries []string) []string { return entries[max(0, len(entries)-maxEntries):] }

// part returns the checkpoint of a step.
func (r *checkpointRun) part(run *agent.Run, s agent.StepResult, messages []agent.Message) *checkpointPart {
	count := kit.Env(run).Count()
	part := &checkpointPart{Chain: r.chainFor(run), CheckpointState: CheckpointState{
		StepNumber: r.offset + s.Step.Number,
		SessionLog: CheckpointLog{Entries: slices.Clone(r.entries)},
		Config: CheckpointConfig{
			MaxSteps: count.MaxSteps, MaxTokens: count.MaxTokens, Temperature: r.temperature, QueriesUsed: count.ModelCalls,
		},
		Counters:  countersOf(run),
		Metadata:  map[string]string{"run": run.ID(), "agent": kit.Agent(run)},
		CreatedAt: kit.UnixSeconds(kit.Env(run).Now()),
	}}
	was := r.was
	if r.begun && continues(messages, r.kept) {
		part.From = len(r.kept)
	} else {
		part.First, was = true, checkpointTexts{}
		part.SessionLog.Entries = lastEntries(slices.Concat(r.earlier, r.entries))
	}
	part.Conversation.Messages = messages[part.From:]
	if r.system != was.system {
		part.Config.SystemPrompt = r.system
	}
	if r.theory != was.theory {
		part.SessionLog.CurrentTheory = r.theory
	}
	if r.task != was.task {
		part.Metadata["task"] = r.task
	}
	known := resultsIn(part.Conversation.Messages)
	for id, result := range r.results {
		if known[id] != result {
			if part.ToolResultsStore == nil {
				part.ToolResultsStore = make(map[string]string)
			}
			part.ToolResultsStore[id] = result
		}
	}
	if count.MaxTokens > 0 {
		remaining := count.MaxTokens - count.Usage.Total()
		part.Config.BudgetRemaining = &remaining
	}
	return part
}

// continues reports whether a conversation begins with an earlier one, by the texts of the messages.
func continues(messages, earlier []agent.Message) bool {
	return len(messages) >= len(earlier) && slices.EqualFunc(messages[:len(earlier)], earlier,
		func(a, b agent.Message) bool {
			return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && a.Name == b.Name &&
				len(a.ToolCalls) == len(b.ToolCalls)
		})
}

// resultsIn returns the results of calls in a conversation, by the ID of the call.
func resultsIn(messages []agent.Message) map[string]string {
	results := make(map[string]string)
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			results[m.ToolCallID] = m.Content
		}
	}
	return results
}

// resume takes over the conversation of the last checkpoint, and the counters if the task is the same.
func (c *Checkpoint) resume(
	ctx context.Context, run *agent.Run, start agent.RunStart,
) (agent.OnRunStartOutcome, error) {
	owner, ok := c.owner(run)
	if !ok || start.Resumed != "" { // a suspended run has its own state
		return nil, nil
	}
	last, chain, err := latest(ctx, c.Store, owner)
	found := !errors.As(err, new(*agent.NotFound))
	if found && err != nil {
		return nil, err
	}
	counters, err := readCounters(ctx, c.Store, owner)
	if err != nil {
		return nil, err
	}
	switch {
	case counters != nil && (start.Task == "" || counters.Task == hashOf(start.Task)):
		restore(run, counters.Counters)
	case counters == nil && found && (start.Task == "" || last.Metadata["task"] == start.Task):
		restore(run, last.Counters)
	}
	if !found || len(start.Messages) > 0 {
		return nil, nil
	}
	c.runs.Do(run, func(r *checkpointRun) {
		r.offset = max(0, last.StepNumber-kit.Env(run).Count().Step)
		r.chain, r.begun, r.kept = chain, true, last.Conversation.Messages
		r.task, r.earlier, r.theory = last.Metadata["task"], last.SessionLog.Entries, last.SessionLog.CurrentTheory
		r.system = last.Config.SystemPrompt
		r.was = checkpointTexts{r.system, r.theory, r.task}
		if start.Task != "" {
			r.task = start.Task
		}
	})
	hasTask := func(m agent.Message) bool { return m.Role == agent.RoleUser && m.Content == start.Task }
	if slices.ContainsFunc(last.Conversation.Messages, hasTask) {
		start.Task = ""
	}
	start.Messages = last.Conversation.Messages
	return agent.ReplaceOnRunStart(start, fmt.Sprintf("continues after step %d", last.StepNumber)), nil
}

func restore(run *agent.Run, c CheckpointCounters) {
	if env := kit.Env(run); env != nil && env.Restore != nil {
		env.Restore(agent.Counters{
			Step: c.Steps, ModelCalls: c.ModelCalls, ToolCalls: c.ToolCalls, Tools: c.Tools, Usage: c.Usage,
			Elapsed: c.Elapsed, Rejections: c.Rejections,
		})
	}
}

// done deletes the checkpoints of a completed run. It begins with the counters and the first checkpoint: if the program
// is killed meanwhile, the next run must not resume a completed one.
func (c *Checkpoint) done(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	owner, ok := c.owner(run)
	if !ok || result.Err != "" || result.Forced() {
		return nil
	}
	return errors.Join(c.Store.Delete(ctx, countersKey(owner)), c.deleteOthers(ctx, owner, 0))
}

// stepsOf returns the steps of the checkpoints of an owner, in ascending order.
func stepsOf(ctx context.Context, store agent.Store, owner agent.Identity) ([]int, error) {
	keys, err := store.Keys(ctx, storekey.Of(checkpointKind, owner)+"/")
	if err != nil {
		return nil, fmt.Errorf("the checkpoints cannot be listed: %w", err)
	}
	var steps []int
	for _, key := range keys {
		_, parts, ok := storekey.Parse(checkpointKind, key)
		if !ok || len(parts) != 2 {
			continue
		}
		if n, err := strconv.Atoi(parts[1]); err == nil && n > 0 && partKey(owner, n) == key {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// readCounters returns the counters of an owner, or nil. Unreadable counters are skipped and logged.
func readCounters(ctx context.Context, store agent.Store, owner agent.Identity) (*savedCounters, error) {
	key := countersKey(owner)
	data, err := store.Get(ctx, key)
	if errors.As(err, new(*agent.NotFound)) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the counters cannot be read: %w", err)
	}
	var saved savedCounters
	if err := json.Unmarshal(data, &saved); err != nil {
		logUnreadable(ctx, key, err)
		return nil, nil
	}
	return &saved, nil
}

func logUnreadable(ctx context.Context, key string, err error) {
	slog.WarnContext(ctx, "state.Checkpoint: an unreadable checkpoint is skipped",
		"key", shorten.To(key, shorten.SummaryChars), "error", err)
}

// Latest returns the last checkpoint of a conversation, with the counters of the run when it was interrupted. Set
// Conversation to Checkpoint.Name, or to the name of the conversation if that is empty. Unreadable checkpoints are
// skipped and logged, and so are those that follow them. Without a readable checkpoint, the error is a *agent.NotFound.
func Latest(ctx context.Context, store agent.Store, owner agent.Identity) (CheckpointState, error) {
	state, chain, err := latest(ctx, store, owner)
	if err != nil {
		return CheckpointState{}, err
	}
	counters, err := readCounters(ctx, store, owner)
	if err != nil {
		return CheckpointState{}, err
	}
	if counters != nil && counters.Chain == chain && counters.Counters.Steps != state.Counters.Steps {
		state.Counters = counters.Counters // of a later step, or of a later run
	}
	return state, nil
}

// latest joins the checkpoints of the newest chain that has all its parts.
func latest(ctx context.Context, store agent.Store, owner agent.Identity) (CheckpointState, string, error) {
	steps, err := stepsOf(ctx, store, owner)
	if err != nil {
		return CheckpointState{}, "", err
	}
	chains := make(map[string]*CheckpointState)
	broken := make(map[string]bool)
	for _, n := range steps {
		part, err := readPart(ctx, store, owner, n)
		if ctx.Err() != nil {
			return CheckpointState{}, "", ctx.Err()
		}
		if err != nil {
			logUnreadable(ctx, partKey(owner, n), err)
			continue // the next part of its chain does not fit
		}
		state := chains[part.Chain]
		switch {
		case part.First:
			chains[part.Chain], broken[part.Chain] = &part.CheckpointState, false
		case state == nil || broken[part.Chain] || part.From != len(state.Conversation.Messages):
			broken[part.Chain] = true
		default:
			state.join(part)
		}
	}
	if len(chains) == 0 {
		return CheckpointState{}, "", &agent.NotFound{Key: storekey.Of(checkpointKind, owner)}
	}
	newest := slices.MaxFunc(slices.Sorted(maps.Keys(chains)), func(a, b string) int {
		return cmp.Or(cmp.Compare(chains[a].CreatedAt, chains[b].CreatedAt),
			cmp.Compare(chains[a].StepNumber, chains[b].StepNumber))
	})
	state := chains[newest]
	results := resultsIn(state.Conversation.Messages)
	maps.Copy(results, state.ToolResultsStore)
	state.ToolResultsStore = results
	return *state, newest, nil
}

func readPart(ctx context.Context, store agent.Store, owner agent.Identity, n int) (checkpointPart, error) {
	var part checkpointPart
	data, err := store.Get(ctx, partKey(owner, n))
	if err == nil {
		err = json.Unmarshal(data, &part)
	}
	switch {
	case err != nil:
	case part.StepNumber != n:
		err = fmt.Errorf("it is of step %d", part.StepNumber)
	case part.Chain == "" || part.First && part.From != 0:
		err = errors.New("it is not a checkpoint")
	}
	return part, err
}

// join adds the next checkpoint of the chain to a state.
func (s *CheckpointState) join(part checkpointPart) {
	next := part.CheckpointState
	next.Conversation.Messages = append(s.Conversation.Messages, next.Conversation.Messages...)
	next.SessionLog.Entries = lastEntries(append(s.SessionLog.Entries, next.SessionLog.Entries...))
	next.SessionLog.CurrentTheory = cmp.Or(next.SessionLog.CurrentTheory, s.SessionLog.CurrentTheory)
	next.Config.SystemPrompt = cmp.Or(next.Config.SystemPrompt, s.Config.SystemPrompt)
	if next.Metadata["task"] == "" && s.Metadata["task"] != "" {
		if next.Metadata == nil {
			next.Metadata = make(map[string]string)
		}
		next.Metadata["task"] = s.Metadata["task"]
	}
	if results := s.ToolResultsStore; results != nil {
		maps.Copy(results, next.ToolResultsStore)
		next.ToolResultsStore = results
	}
	*s = next
}
