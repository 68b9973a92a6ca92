package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A Replayed is a model that answers with the replies that a [Model] wrote down, in their order, so that a
// run can be made again with other tools or hooks. Make one with [Replay]. It is for one run and the runs that it
// starts, and is safe for concurrent use.
type Replayed struct {
	mu   sync.Mutex
	free []*replayedRun // that no run has asked for yet
	runs map[string]*replayedRun
}

type replayedRun struct {
	dir    string
	prompt string  // the first
	began  float64 // when the first call began
	calls  []storedReply
	next   int
}

// Replay reads the directory of a recorded run: the one that Model.RunDir names. The manifest is not needed.
// A directory that holds no recorded call is an error, and so is a call that is missing in between or cannot be
// read.
//
// In the run that asks, the first call gets the first reply and so on; a recorded error is returned again. It is an
// error to ask for more calls than were recorded, or with tools where there were none, or the other way round: then
// the run is not the one that was recorded. A run that the run starts, with an agent that has no model of its own,
// plays the recorded run that began with the same prompt, or else the next one.
//
// Calls of hooks and tools are replayed where they were recorded, which takes Model.Wrap.
func Replay(dir string) (*Replayed, error) {
	root, err := readRun(dir)
	if err != nil {
		return nil, fmt.Errorf("the run cannot be replayed: %w", err)
	}
	if len(root.calls) == 0 {
		return nil, fmt.Errorf("the run cannot be replayed: %s holds no recorded call; name the directory of a run", dir)
	}
	r := &Replayed{runs: make(map[string]*replayedRun)}
	inner, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the run cannot be replayed: %w", err)
	}
	for _, e := range inner {
		if !e.IsDir() {
			continue
		}
		run, err := readRun(filepath.Join(dir, "runs", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("the run cannot be replayed: %w", err)
		}
		if len(run.calls) > 0 {
			r.free = append(r.free, run)
		}
	}
	slices.SortStableFunc(r.free, func(a, b *replayedRun) int { return cmp.Compare(a.began, b.began) })
	r.free = append([]*replayedRun{root}, r.free...)
	return r, nil
}

// readRun reads the calls in a directory.
func readRun(dir string) (*replayedRun, error) {
	run := &replayedRun{dir: dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	indices := make(map[int]bool)
	for _, e := range entries {
		if n, ok := callIndex(e.Name()); ok {
			indices[n] = true
		}
	}
	for n := range len(indices) {
		if !indices[n] {
			return nil, fmt.Errorf("%s has no %s, but later calls", dir, callFile(n, "response.json"))
		}
		call, err := readCall(dir, n)
		if err != nil {
			return nil, err
		}
		run.calls = append(run.calls, call)
	}
	if text, err := os.ReadFile(filepath.Join(dir, callFile(0, "prompt.txt"))); err == nil {
		run.prompt = string(text)
	}
	if len(run.calls) > 0 {
		run.began = run.calls[0].Timestamp
	}
	return run, nil
}

// callIndex returns the number of the call whose response a file holds.
func callIndex(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "call_")
	if !ok {
		return 0, false
	}
	digits, what, _ := strings.Cut(digits, "_")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && (what == "response.json" || what == "response.txt")
}

// readCall reads one call; where only the text for people is left, it is the whole reply.
func readCall(dir string, n int) (call storedReply, err error) {
	path := filepath.Join(dir, callFile(n, "response.json"))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err := os.ReadFile(filepath.Join(dir, callFile(n, "response.txt")))
		return storedReply{Response: &agent.LLMResponse{Content: strings.TrimSuffix(string(text), "\n"), FinishReason: "stop"}}, err
	}
	if err != nil {
		return call, err
	}
	if err = json.Unmarshal(data, &call); err == nil && call.Response == nil && call.Error == "" {
		err = errors.New("it has neither a response nor an error")
	}
	if err != nil {
		return call, fmt.Errorf("%s is no recorded call: %w", path, err)
	}
	return call, nil
}

// Generate answers with the next recorded reply of the run.
func (r *Replayed) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	if err := ctx.Err(); err != nil {
		return agent.LLMResponse{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	run, err := r.of(agentspec.RunID(ctx), req)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	if run.next == len(run.calls) {
		return agent.LLMResponse{}, fmt.Errorf("the replay of %s has %d calls and was asked for one more: the run is not the one that was recorded", run.dir, len(run.calls))
	}
	call := run.calls[run.next]
	if method := methodOf(req); call.Method != "" && call.Method != method {
		return agent.LLMResponse{}, fmt.Errorf("call %d of the replay of %s was %s and is now %s: the run is not the one that was recorded", run.next, run.dir, call.Method, method)
	}
	run.next++
	switch {
	case call.PromptTooLong != nil:
		return agent.LLMResponse{}, call.PromptTooLong
	case call.Response == nil:
		return agent.LLMResponse{}, errors.New(call.Error)
	}
	return call.Response.Clone(), nil
}

// Remaining returns how many recorded calls were not asked for, those of runs that the run started included.
func (r *Replayed) Remaining() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, run := range r.free {
		n += len(run.calls)
	}
	for _, run := range r.runs {
		n += len(run.calls) - run.next
	}
	return n
}

// of returns what a run replays.
func (r *Replayed) of(id string, req agent.LLMRequest) (*replayedRun, error) {
	if run := r.runs[id]; run != nil {
		return run, nil
	}
	if len(r.free) == 0 {
		return nil, errors.New("the replay was asked by one run more than was recorded: the run is not the one that was recorded")
	}
	at := 0
	if len(r.runs) > 0 { // the first one is the outermost
		prompt := promptText(req, recordChars)
		redacted := new(redact.Redactor).Text(prompt)
		if same := slices.IndexFunc(r.free, func(run *replayedRun) bool { return run.prompt == prompt || run.prompt == redacted }); same >= 0 {
			at = same
		}
	}
	run := r.free[at]
	r.free = slices.Delete(r.free, at, at+1)
	r.runs[id] = run
	return run, nil
}
