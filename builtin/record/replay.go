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

// Replayed is a model that returns the recorded replies of a [Provenance], in order. Use it to repeat a run with other
// tools or hooks. Make one with [Replay]. A Replayed serves one run and its sub-runs, and is safe for concurrent use.
type Replayed struct {
	mu   sync.Mutex
	free []*replayedRun // recordings that are not assigned to a run yet
	runs map[string]*replayedRun
}

type replayedRun struct {
	dir    string
	prompt string  // prompt of the first call
	began  float64 // start of the first call, in seconds since 1970
	calls  []storedReply
	next   int // index of the next call
}

// Replay reads a recorded run from its directory, which Provenance.RunDir returns. It returns an error if the directory
// has no recorded call, or if a call is missing or unreadable. It does not need the manifest.
//
// The first call of the replayed run gets the first reply, and so on; a recorded error is returned again. If the run
// makes more calls than were recorded, or differs in whether a call has tools, Generate returns an error. A sub-run
// whose agent has no model of its own gets the recording that began with the same prompt, or else the next one.
//
// Calls of hooks and tools are replayed if they were recorded with [Provenance.Wrap].
func Replay(dir string) (*Replayed, error) {
	root, err := readRun(dir)
	if err != nil {
		return nil, fmt.Errorf("the run cannot be replayed: %w", err)
	}
	if len(root.calls) == 0 {
		return nil, fmt.Errorf("the run cannot be replayed: %s has no recorded call; name the directory of a run", dir)
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

// callIndex returns the index of the call whose response a file contains.
func callIndex(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "call_")
	if !ok {
		return 0, false
	}
	digits, suffix, _ := strings.Cut(digits, "_")
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0 && (suffix == "response.json" || suffix == "response.txt")
}

// readCall reads one call. If there is no JSON file, the text file is the complete reply.
func readCall(dir string, n int) (call storedReply, err error) {
	path := filepath.Join(dir, callFile(n, "response.json"))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err := os.ReadFile(filepath.Join(dir, callFile(n, "response.txt")))
		response := &agent.LLMResponse{Content: strings.TrimSuffix(string(text), "\n"), FinishReason: "stop"}
		return storedReply{Response: response}, err
	}
	if err != nil {
		return call, err
	}
	if err = json.Unmarshal(data, &call); err == nil && call.Response == nil && call.Error == "" {
		err = errors.New("it has neither a response nor an error")
	}
	if err != nil {
		return call, fmt.Errorf("%s is not a recorded call: %w", path, err)
	}
	return call, nil
}

// Generate returns the next recorded reply of the run.
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
		return agent.LLMResponse{}, fmt.Errorf("the replay of %s has %d calls and was asked for one more: "+
			"the run differs from the recorded one", run.dir, len(run.calls))
	}
	call := run.calls[run.next]
	if method := methodOf(req); call.Method != "" && call.Method != method {
		return agent.LLMResponse{}, fmt.Errorf("call %d of the replay of %s was %s and is now %s: "+
			"the run differs from the recorded one", run.next, run.dir, call.Method, method)
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

// Remaining returns the number of recorded calls, including those of sub-runs, that were not replayed yet.
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

// of returns the recording for a run.
func (r *Replayed) of(id string, req agent.LLMRequest) (*replayedRun, error) {
	if run := r.runs[id]; run != nil {
		return run, nil
	}
	if len(r.free) == 0 {
		return nil, errors.New("the replay was asked by one run more than was recorded: " +
			"the run differs from the recorded one")
	}
	at := 0
	if len(r.runs) > 0 { // the first recording is that of the root run
		prompt := promptText(req, recordChars)
		redacted := new(redact.Redactor).Text(prompt)
		matches := func(run *replayedRun) bool { return run.prompt == prompt || run.prompt == redacted }
		if same := slices.IndexFunc(r.free, matches); same >= 0 {
			at = same
		}
	}
	run := r.free[at]
	r.free = slices.Delete(r.free, at, at+1)
	r.runs[id] = run
	return run, nil
}
