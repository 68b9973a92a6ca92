package kill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// Writers of more than one file, and of append-only files.

var trajectory = writer{
	name: "Trajectory",
	open: func(dir string, _ int) (func(int) error, error) {
		var reported error
		var hooks agent.Hooks
		hooks.Use(&record.Provenance{
			Dir:      dir,
			OneRun:   true,
			MaxChars: limit.None,
			OnError:  func(err error) { reported = err },
		})
		return func(v int) error {
			run := runOf(nil)
			reply := agent.LLMResponse{Content: textOf(v, 30<<10)}
			hooks.AfterStep.Fire(background, run, agent.StepResult{Step: agent.Step{Number: 1}, Response: &reply})
			hooks.OnRunEnd.Fire(background, run, agent.AgentResult{Reply: textOf(v, 30<<10), Steps: 1})
			return reported
		}, nil
	},
	read: func(dir string, _ int) ([]int, error) {
		data, err := os.ReadFile(filepath.Join(dir, "steps", "step_01.json"))
		if err != nil {
			return nil, err
		}
		var step record.TrajectoryStep
		if err := json.Unmarshal(data, &step); err != nil {
			return nil, fmt.Errorf("the step: %w", err)
		}
		of, err := wholeOf(step.Reply, 30<<10)
		if err != nil {
			return nil, fmt.Errorf("the step: %w", err)
		}
		whole, err := record.ReadTrajectory(dir)
		if none(err) {
			return []int{of, 0}, nil // it is written after the step
		}
		if err != nil {
			return nil, err
		}
		v, err := wholeOf(whole.Reply, 30<<10)
		if err == nil && (len(whole.Steps) != 1 || whole.Steps[0].Reply != whole.Reply) {
			err = errors.New("the trajectory and its step are of two versions")
		}
		return []int{of, v}, err
	},
}

const noteSize = 3000

var boundedNotes = writer{
	name: "NotesFile",
	open: func(dir string, _ int) (func(int) error, error) {
		notes := &memory.Notes{Path: filepath.Join(dir, "notes.md")}
		notes.MaxChars = 20 * noteSize
		return func(v int) error { return notes.Append(background, textOf(v, noteSize), "") }, nil
	},
	read: func(dir string, _ int) ([]int, error) {
		last, torn, err := readNotes(dir, noteSize)
		if err == nil && torn > 0 {
			err = fmt.Errorf("%d notes are not whole", torn)
		}
		return last, err
	},
}

var endlessNotes = writer{
	name: "NotesFile without a bound",
	open: func(dir string, _ int) (func(int) error, error) {
		notes := &memory.Notes{Path: filepath.Join(dir, "notes.md")}
		notes.MaxChars = limit.None
		return func(v int) error { return notes.Append(background, textOf(v, 12*noteSize), "") }, nil
	},
	read: func(dir string, _ int) ([]int, error) {
		last, _, err := readNotes(dir, 12*noteSize)
		return last, err
	},
	torn: func(dir string) (int, error) {
		_, torn, err := readNotes(dir, 12*noteSize)
		return torn, err
	},
}

func readNotes(dir string, size int) (last []int, torn int, err error) {
	notes := &memory.Notes{Path: filepath.Join(dir, "notes.md")}
	text, err := notes.Tail(background, -1)
	if err != nil || text == "" {
		return nil, 0, err
	}
	v, torn, err := wholeLines([]byte(strings.TrimPrefix(text, "(earlier notes truncated)\n")),
		func(line string) (int, error) { return wholeOf(line, size) })
	return []int{v}, torn, err
}

// wholeLines reads consecutive versions, one per line. After a kill the last line may be incomplete. It returns
// the last version, or 0.
func wholeLines(data []byte, version func(line string) (int, error)) (last, torn int, err error) {
	before := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		v, err := version(line)
		if err != nil {
			torn++
			continue
		}
		if before > 0 && v != before+1 {
			return 0, 0, fmt.Errorf("version %d comes after version %d", v, before)
		}
		before = v
	}
	return before, torn, nil
}

const auditText = 16 << 10

func auditPath(dir string) string { return filepath.Join(dir, "audit.jsonl") }

var auditLog = writer{
	name: "record.Audit",
	open: func(dir string, _ int) (func(int) error, error) {
		var reported error
		var hooks agent.Hooks
		hooks.Use(&record.Audit{Path: auditPath(dir), MaxChars: limit.None, OnError: func(err error) { reported = err }})
		return func(v int) error {
			args, _ := json.Marshal(map[string]string{"text": textOf(v, auditText)})
			_, err := hooks.BeforeTool.Fire(background, runOf(nil), &agent.ToolCallRequest{ID: "1", Name: "work", Args: args})
			return errors.Join(err, reported)
		}, nil
	},
	read: func(dir string, _ int) ([]int, error) {
		data, err := os.ReadFile(auditPath(dir))
		if err != nil {
			return nil, err
		}
		state, _, err := verified(data)
		if err != nil || state.Records == 0 {
			return nil, err
		}
		seq := 0
		for event, err := range hooklog.Read(bytes.NewReader(data)) {
			if err != nil {
				continue // verified has counted it
			}
			var call agent.ToolCallRequest
			var args struct{ Text string }
			if err := errors.Join(json.Unmarshal(event.Payload, &call), json.Unmarshal(call.Args, &args)); err != nil {
				return nil, err
			}
			v, err := wholeOf(args.Text, auditText)
			if seq++; err != nil || v != seq {
				return nil, fmt.Errorf("event %d has the version %d, %w", seq, v, err)
			}
		}
		if seq != state.Records {
			return nil, fmt.Errorf("%d records are read, %d verified", seq, state.Records)
		}
		return []int{seq}, nil
	},
	torn: func(dir string) (int, error) {
		data, err := os.ReadFile(auditPath(dir))
		if none(err) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		_, torn, err := verified(data)
		return torn, err
	},
}

// verified verifies an audit log. The only thing that may be wrong is that its last line is unfinished, and then the
// check must say so and name it. It returns how many lines are unfinished, those that a record vouches for too.
func verified(data []byte) (record.AuditState, int, error) {
	state, err := record.VerifyAudit(bytes.NewReader(data), record.AuditCheck{})
	torn := state.Torn
	if len(data) > 0 && data[len(data)-1] != '\n' {
		lines := 1 + bytes.Count(data, []byte{'\n'})
		if want := fmt.Sprintf("line %d: not a record, and no record after it confirms it: it is incomplete",
			lines); err == nil {
			torn-- // only the line break is missing
		} else if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			return state, 0, fmt.Errorf("of a log whose last line is unfinished: %w", err)
		}
		torn, err = torn+1, nil
	}
	return state, torn, err
}

// recorder makes one run per process, in its own directory, and one model call per version.
var recorder = writer{
	name: "record.Provenance",
	open: func(dir string, from int) (func(int) error, error) {
		var reported error
		var hooks agent.Hooks
		hooks.Use(&record.Provenance{
			Dir:      runDir(dir, from),
			OneRun:   true,
			MaxChars: limit.None,
			OnError:  func(err error) { reported = err },
		})
		run := runOf(nil)
		return func(v int) error {
			prompt := agent.LLMRequest{Messages: messagesOf(v, 1, 20<<10)}
			_, err := hooks.BeforeLLM.Fire(background, run, &prompt)
			_, failed := hooks.AfterLLM.Fire(background, run, &agent.LLMResponse{
				Content: textOf(v, 20<<10), ToolCalls: []agent.ToolCallRequest{{ID: "1", Name: "work"}},
			})
			return errors.Join(err, failed, reported)
		}, nil
	},
	read: func(dir string, from int) ([]int, error) {
		dir = runDir(dir, from)
		if calls, _ := filepath.Glob(filepath.Join(dir, "call_*_response.*")); len(calls) == 0 {
			return nil, nil
		}
		replay, err := record.Replay(dir)
		if err != nil {
			return nil, err
		}
		n := 0
		for ; replay.Remaining() > 0 || n == 0; n++ {
			reply, err := replay.Generate(background, agent.LLMRequest{})
			if err != nil {
				return nil, err
			}
			if v, err := wholeOf(reply.Content, 20<<10); err != nil || v != from+n || len(reply.ToolCalls) != 1 {
				return nil, fmt.Errorf("call %d is of version %d and has %d calls of tools, want version %d and one: %w", n, v,
					len(reply.ToolCalls), from+n, err)
			}
		}
		for i := range n { // the readable copy, written after the reply
			for _, name := range []string{"prompt", "response"} {
				path := filepath.Join(dir, fmt.Sprintf("call_%02d_%s.txt", i, name))
				if found, err := readTexts(path); err != nil && !(none(err) && i == n-1 && name == "response") ||
					err == nil && found[0] != from+i {
					return nil, fmt.Errorf("%s holds %v, %w", filepath.Base(path), found, err)
				}
			}
		}
		return []int{from + n - 1}, nil
	},
	torn: func(dir string) (torn int, err error) {
		paths, err := filepath.Glob(filepath.Join(dir, "*", "manifest.jsonl"))
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return 0, err
			}
			index := 0
			for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
				var call record.ModelCall
				if json.Unmarshal([]byte(line), &call) != nil {
					torn++
				} else if call.Index != index {
					return 0, fmt.Errorf("line %d of the manifest is of call %d", index+1, call.Index)
				}
				index++
			}
		}
		return torn, err
	},
}

func runDir(dir string, from int) string { return filepath.Join(dir, fmt.Sprintf("run%06d", from)) }
