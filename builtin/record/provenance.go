package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Provenance is a [View] that writes complete runs, however they end: each prompt and reply, and each step.
//
// For example, to find out why an agent chose the wrong tool, read call_03_prompt.txt in the directory of the run, or
// repeat the run with [Replay]. Each run has a directory below Dir with the name of the run's ID. A sub-run has a
// directory below "runs" in the directory of its root run. With OneRun, Dir itself is the directory. It contains, where
// NN counts the calls of the model from 00:
//
//   - manifest.jsonl with a [ModelCall] on each line
//   - call_NN_prompt.txt and call_NN_response.txt for people
//   - call_NN_response.json with the complete reply or error, for Replay
//   - steps/step_NN.json with a [TrajectoryStep], written at the end of the step; they are counted from 01
//   - trajectory.json with a [TrajectoryRun], written at the end of the run; [ReadTrajectory] reads it
//
// A call is recorded when it has ended, with the request as the hooks left it at BeforeLLM, and the reply before the
// hooks of AfterLLM. Attempts that a hook repeats at AroundLLM are one call. Steps whose answer was rejected are
// included.
//
// Files are replaced atomically, the reply before its text. If a crash leaves an incomplete line in the manifest, the
// next line starts after it. Texts are redacted, then truncated to MaxChars characters with a mark at the end. A
// failure to write is reported and does not affect the run.
//
// Calls made by hooks and tools themselves fire no point. To record them, give the agent the model returned by
// [Provenance.Wrap]; their scope is "hook" or "tool:" and the tool's name.
//
// Provenance reads OnRunStart, BeforeStep, Briefing, BeforeLLM, AfterLLM, BeforeCompact, CheckDone, AfterStep and
// OnRunEnd. As a hook it also uses OnRunStart, AroundTool and, for SendRedacted, BeforeLLM. From a record, it knows
// neither the calls of hooks and tools nor the limits of the Snapshot. Bind panics on an empty Dir, on a negative
// bound, and on Hooks without Snapshot.
type Provenance struct {
	Dir          string           // required
	OneRun       bool             // Dir is the directory of the only run
	MaxChars     limit.Bound[int] // characters of each text; default 200,000
	Redact       redact.Redactor
	SendRedacted SendRedacted
	NoContext    bool         // omit the briefing of each step
	Snapshot     bool         // add the system prompt, limits, tools, model, and the names of Hooks
	Hooks        *agent.Hooks // hooks to list in the snapshot; nil: no list
	OnError      func(error)  // receives write failures; nil: they are logged

	watch
	runs   byRun[provenRun]
	failed kit.Reporter
}

const recordChars = 200_000

// provenRun is the state of one run.
type provenRun struct {
	mu         sync.Mutex // for the fields below, because hooks and tools call models concurrently
	start      event
	started    time.Time
	task       string
	steps      []TrajectoryStep
	stepNumber int // of the current step
	stepStart  time.Time
	context    string
	rejected   string
	calls      []ModelCall
	listed     int        // calls before the current step
	open       *modelCall // of the loop, without a reply yet
	snapshot   *Snapshot
	metadata   map[string]any
}

// SendRedacted selects the texts to remove from a prompt before it is sent to the model.
type SendRedacted int

// The zero value removes only texts that the Redactor was configured for. For example, a model that edits a file must
// see the e-mail addresses in that file.
const (
	RedactOwn     SendRedacted = iota // remove matches of the Keys, Patterns and Extra of the Redactor
	RedactAll                         // remove everything that is removed from the record
	RedactNothing                     // remove nothing
)

// Bind adds the view to its points.
func (p *Provenance) Bind(h *agent.Hooks) {
	err := p.MaxChars.Check("MaxChars")
	switch {
	case p.Dir == "":
		err = errors.New("Dir is empty; name the directory to write to")
	case p.Hooks != nil && !p.Snapshot:
		err = errors.New("Hooks is for the snapshot; set Snapshot, or leave Hooks out")
	}
	kit.MustConfig("record.Provenance", err)
	p.bind(h, "record.Provenance", p)
	name, last := hookkit.Named("record.Provenance"), hookkit.Priority(kit.LastPriority)
	h.OnRunStart.AddFunc(func(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
		p.run(liveEvent(run)) // before other hooks call a model or set metadata
		return nil, nil
	}, name, hookkit.Priority(hookkit.Safety+1))
	h.AroundTool.Add(agent.AroundToolFunc(noteTool), name, last)
	if r := p.sendRedactor(); !isNoop(r) {
		h.BeforeLLM.AddFunc(func(
			_ context.Context, _ *agent.Run, req agent.LLMRequest,
		) (agent.BeforeLLMOutcome, error) {
			return agent.ReplaceBeforeLLM(r.Request(req), "redacted"), nil
		}, name, last)
	}
}

func (p *Provenance) points() []string {
	return []string{
		"OnRunStart", "BeforeStep", "Briefing", "BeforeLLM", "AfterLLM", "BeforeCompact", "CheckDone", "AfterStep",
		"OnRunEnd",
	}
}

func (p *Provenance) see(_ context.Context, e event) {
	r := p.run(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch v := e.final.(type) {
	case agent.RunStart:
		if r.started.IsZero() {
			r.started, r.task = e.at, p.text(v.Task)
		}
	case agent.Step: // of BeforeStep, and then of Briefing, which may have collected texts
		switch {
		case r.stepNumber != v.Number:
			r.stepNumber, r.stepStart, r.context, r.rejected = v.Number, e.at, "", ""
		case !p.NoContext:
			r.context = p.text(strings.Join(e.collected, "\n\n"))
		}
	case agent.LLMRequest:
		if p.Snapshot && r.snapshot == nil {
			r.snapshot = p.snapshot(e, v)
		}
		p.fail(r, e, "the call has no reply")
		if e.exit == nil && e.err == "" {
			r.open = p.began(r, e.at, v, "")
		}
	case agent.LLMResponse:
		p.ended(r, r.open, e.at, e.payload.(agent.LLMResponse), "")
		r.open = nil
	case agent.Compaction:
		if v.Reason == agent.CompactTooLong {
			p.fail(r, e, cmp.Or(v.Detail, new(agent.PromptTooLong).Error()))
		}
	case agent.DoneRequest:
		why := e.err
		if exit, ok := e.exit.(agent.RejectDone); ok {
			why = cmp.Or(exit.Feedback, exit.Reason, "rejected")
		}
		if why != "" {
			r.rejected = p.text(why)
		}
	case agent.StepResult:
		p.fail(r, e, cmp.Or(v.Err, "the call has no reply"))
		p.step(r, e, v)
	case agent.AgentResult:
		p.fail(r, e, cmp.Or(v.Err, "the call has no reply"))
		p.end(r, e, v)
		p.mu.Lock()
		delete(p.runs, e.run)
		p.mu.Unlock()
	}
}

// run returns the state of the run of an event.
func (p *Provenance) run(e event) *provenRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.runs.of(e.run)
	if r.metadata == nil {
		r.start, r.metadata = e, make(map[string]any)
	}
	return r
}

// RunDir returns the directory of a run. A run that is resumed has one more directory for each part.
func (p *Provenance) RunDir(run *agent.Run) string { return p.dirOf(liveEvent(run)) }

func (p *Provenance) dirOf(of event) string {
	dir := p.Dir
	if !p.OneRun {
		dir = filepath.Join(dir, of.root)
	}
	if of.parent != "" {
		dir = filepath.Join(dir, "runs", of.run)
	}
	if of.resumed != "" { // the numbers of the files begin anew
		dir = filepath.Join(dir, "resumed", of.resumed)
	}
	return dir
}

// SetMetadata adds a value to the metadata of a run. If trajectory.json is already written, it is replaced.
func (p *Provenance) SetMetadata(run *agent.Run, key string, value any) {
	key, value = p.text(key), p.value(map[string]any{key: value})
	p.mu.Lock()
	r := p.runs[run.ID()]
	p.mu.Unlock()
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.metadata[key] = value
		return
	}
	dir := p.RunDir(run)
	written, err := ReadTrajectory(dir)
	if err != nil {
		p.report(err)
		return
	}
	if written.Metadata == nil { // another program wrote the file
		written.Metadata = make(map[string]any)
	}
	written.Metadata[key] = value
	p.write(filepath.Join(dir, trajectoryFile), written)
}

func (p *Provenance) text(s string) string {
	return cutRedacted(&p.Redact, s, p.MaxChars.Or(recordChars))
}

func (p *Provenance) report(err error) { p.failed.Report("record.Provenance", p.OnError, err) }

// write writes a value to a file as JSON.
func (p *Provenance) write(path string, v any) {
	data, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = atomicfile.Write(path, data)
	}
	p.report(err)
}

const trajectoryFile = "trajectory.json"

// ReadTrajectory reads the trajectory in the directory of a run. It returns an error if the file is missing or invalid.
func ReadTrajectory(dir string) (TrajectoryRun, error) {
	data, err := os.ReadFile(filepath.Join(dir, trajectoryFile))
	if err != nil {
		return TrajectoryRun{}, fmt.Errorf("the trajectory cannot be read: %w", err)
	}
	var r TrajectoryRun
	if err = json.Unmarshal(data, &r); err == nil && r.RunID == "" {
		err = errors.New("it has no run_id")
	}
	if err != nil {
		return TrajectoryRun{}, fmt.Errorf("%s is not a trajectory: %w", filepath.Join(dir, trajectoryFile), err)
	}
	return r, nil
}
