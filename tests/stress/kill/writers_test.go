package kill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
)

// A writer is something that writes files.
type writer struct {
	name string
	// open begins to write into a directory and returns what writes one version. It is called in the process that is
	// killed.
	open func(dir string, from int) (write func(version int) error, err error)
	// read reads the files with what reads them in use, and returns the version that each of them holds; none if there
	// is no file. from is the first version that the killed process wrote.
	read func(dir string, from int) (found []int, err error)
	// torn returns how many unfinished lines there are; nil: the files are written whole.
	torn func(dir string) (int, error)
	// ahead is how many versions may be written before the kill comes; 0: a few. Quick ones are many.
	ahead int
}

var background = context.Background()

const big = 256 << 10 // takes many pages, so that a write takes its time

// A conversation is that of a run.
type conversation []agent.Message

func (conversation) ID() string                  { return "talk" }
func (c conversation) Messages() []agent.Message { return c }

// messagesOf is a conversation of one version.
func messagesOf(version, n, size int) conversation {
	var all conversation
	for range n {
		all = append(all, agent.Message{Role: agent.RoleUser, Content: textOf(version, size)})
	}
	return all
}

// sameIn returns the version that all messages hold.
func sameIn(messages []agent.Message, n, size int) ([]int, error) {
	if len(messages) != n {
		return nil, fmt.Errorf("it has %d messages of %d", len(messages), n)
	}
	var found []int
	for _, m := range messages {
		v, err := wholeOf(m.Content, size)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	if found = slices.Compact(found); len(found) != 1 {
		return nil, fmt.Errorf("its messages are of the versions %v", found)
	}
	return found, nil
}

// none is what a read comes to that found no file.
func none(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*agent.NotFound))
}

// A clock that stands still keeps the day of a run.
type clock struct{ agent.SystemClock }

func (clock) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// runOf is a run whose conversation is of one version.
func runOf(c agent.Conversation) *agent.Run {
	return agent.NewRun(&agent.Env{Agent: "clerk", Conversation: c, Clock: clock{}})
}

// ended fires OnRunEnd at hooks and returns what they report.
func ended(hook func() (agent.Hook, *error), run *agent.Run, result agent.AgentResult) error {
	var hooks agent.Hooks
	var failed error
	k, reported := hook()
	hooks.Use(k)
	hooks.OnRunEnd.Observe(watcher{&failed})
	hooks.OnRunEnd.Fire(background, run, result)
	if reported != nil {
		return errors.Join(failed, *reported)
	}
	return failed
}

// A watcher keeps the failures of the hooks that it sees.
type watcher struct{ failed *error }

func (w watcher) ObserveOnRunEnd(_ context.Context, _ *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
	for _, f := range fired.Failures {
		*w.failed = errors.Join(*w.failed, f)
	}
}

var writers = []writer{
	{
		name: "FileStore",
		open: func(dir string, _ int) (func(int) error, error) {
			store := builtin.FileStore{Dir: dir}
			return func(v int) error { return store.Put(background, "a key", []byte(textOf(v, big))) }, nil
		},
		read: func(dir string, _ int) ([]int, error) {
			store := builtin.FileStore{Dir: dir}
			data, err := store.Get(background, "a key")
			if err != nil {
				return nil, err
			}
			if keys, err := store.Keys(background, ""); err != nil || len(keys) != 1 {
				return nil, fmt.Errorf("the keys are %q, %v", keys, err)
			}
			v, err := wholeOf(string(data), big)
			return []int{v}, err
		},
	},
	{
		name: "Sessions",
		open: func(dir string, _ int) (func(int) error, error) {
			sessions := builtin.Sessions{Store: builtin.FileStore{Dir: dir}}
			return func(v int) error {
				return sessions.Save(background, agent.Session{ID: "talk", Messages: messagesOf(v, 8, big/8)})
			}, nil
		},
		read: readSession,
	},
	{
		name: "Sessions over a file that is none",
		open: func(dir string, _ int) (func(int) error, error) {
			store := builtin.FileStore{Dir: dir}
			return func(v int) error {
				if err := store.Put(background, "talk", corrupt(v)); err != nil {
					return err
				}
				session := agent.Session{ID: "talk", Messages: messagesOf(v, 8, big/8)}
				return builtin.Sessions{Store: store}.Save(background, session)
			}, nil
		},
		read: readSaved,
	},
	{
		name: "PersistSession",
		open: func(dir string, _ int) (func(int) error, error) {
			hook := &builtin.PersistSession{Store: builtin.Sessions{Store: builtin.FileStore{Dir: dir}}}
			return func(v int) error {
				return ended(func() (agent.Hook, *error) { return hook, nil }, runOf(messagesOf(v, 8, big/8)), agent.AgentResult{})
			}, nil
		},
		read: readSession,
	},
	{
		name: "Checkpoint",
		open: func(dir string, _ int) (func(int) error, error) {
			var reported error
			var hooks agent.Hooks
			hooks.Use(&builtin.Checkpoint{
				Store: builtin.FileStore{Dir: dir}, Every: 1, Name: "c", OnError: func(err error) { reported = err },
			})
			return func(v int) error {
				hooks.AfterStep.Fire(background, runOf(messagesOf(v, 8, big/8)), agent.StepResult{Step: agent.Step{Number: v}})
				return reported
			}, nil
		},
		read: readCheckpoint,
	},
	{
		name: "RunHistory",
		open: func(dir string, from int) (func(int) error, error) {
			history := &builtin.RunHistory{Store: builtin.FileStore{Dir: dir}, Keep: 300}
			return func(int) error {
				result := agent.AgentResult{Steps: 3, Stop: agent.EndRun{Cause: agent.CauseCompleted, Message: textOf(from, 150)}}
				return ended(func() (agent.Hook, *error) { return history, nil }, runOf(nil), result)
			}, nil
		},
		read: func(dir string, _ int) ([]int, error) {
			runs, err := (&builtin.RunHistory{Store: builtin.FileStore{Dir: dir}}).Runs(background, "clerk")
			if err != nil || len(runs) == 0 {
				return nil, err
			}
			for i, r := range runs {
				if r.ExecutionNumber != runs[0].ExecutionNumber+i || r.StepCount != 3 {
					return nil, fmt.Errorf("run %d has the number %d, the first %d", i, r.ExecutionNumber, runs[0].ExecutionNumber)
				}
				if _, err := versionOf(r.StopMessage); err != nil {
					return nil, err
				}
			}
			return []int{runs[len(runs)-1].ExecutionNumber}, nil
		},
	},
	{
		name: "MemoryFile",
		open: func(dir string, _ int) (func(int) error, error) {
			memory, err := builtin.OpenMemoryFile(filepath.Join(dir, "memory.json"))
			return func(v int) error {
				return errors.Join(memory.SetPreference(background, "version", textOf(v, big)), memory.Flush(background))
			}, err
		},
		read: func(dir string, _ int) ([]int, error) {
			memory, err := builtin.OpenMemoryFile(filepath.Join(dir, "memory.json"))
			if err != nil {
				return nil, err
			}
			all, err := memory.Preferences(background)
			if err != nil || len(all) == 0 {
				return nil, err
			}
			v, err := wholeOf(all[0].Value, big)
			return []int{v}, err
		},
	},
	{
		name: "RunSummary",
		open: func(dir string, _ int) (func(int) error, error) {
			hook := &builtin.RunSummary{Dir: dir, Enabled: true}
			return func(v int) error {
				return ended(func() (agent.Hook, *error) { return hook, nil }, runOf(conversation{}), agent.AgentResult{
					Reply: textOf(v, 500),
				})
			}, nil
		},
		read: func(dir string, _ int) ([]int, error) { return readTexts(filepath.Join(dir, "talk.md")) },
	},
	{
		name: "EvalReport.Save",
		open: func(dir string, _ int) (func(int) error, error) {
			return func(v int) error {
				return builtin.EvalReport{Task: textOf(v, big)}.Save(filepath.Join(dir, "report.json"))
			}, nil
		},
		read: func(dir string, _ int) ([]int, error) {
			data, err := os.ReadFile(filepath.Join(dir, "report.json"))
			if err != nil {
				return nil, err
			}
			var r builtin.EvalReport
			if err := json.Unmarshal(data, &r); err != nil {
				return nil, err
			}
			v, err := wholeOf(r.Task, big)
			return []int{v}, err
		},
	},
	memoryExtractor, trajectory, boundedNotes, endlessNotes, episodes, auditLog, recorder,
}

func readSession(dir string, _ int) ([]int, error) {
	session, err := builtin.Sessions{Store: builtin.FileStore{Dir: dir}}.Load(background, "talk")
	if err != nil {
		return nil, err
	}
	return sameIn(session.Messages, 8, big/8)
}

// corrupt is what is no session and is in the place of one when a version of it is saved.
func corrupt(version int) []byte { return []byte(textOf(version, big)) }

// readSaved reads the session, or what is no session and is in the place of the next one. It also looks at the copies
// of what was replaced: of each version since from there is one, whole. It deletes them, so that they do not pile up,
// but not the copy of what is not replaced yet.
func readSaved(dir string, from int) ([]int, error) {
	copies, err := filepath.Glob(filepath.Join(dir, "talk.json.corrupt-*"))
	if err != nil {
		return nil, err
	}
	data, err := builtin.FileStore{Dir: dir}.Get(background, "talk")
	if none(err) && len(copies) > 0 {
		return nil, fmt.Errorf("there is no session beside %d copies: %v", len(copies), err)
	}
	if err != nil {
		return nil, err
	}
	next, err := wholeOf(string(data), big)
	found := []int{next - 1}
	if err != nil {
		if found, err = readSession(dir, from); err != nil {
			return nil, err
		}
	}
	kept, last := make(map[int]bool), ""
	for _, path := range copies {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		v, err := wholeOf(string(data), big)
		if err != nil || kept[v] || v < from || v > found[0] && v != next {
			return nil, fmt.Errorf("a copy beside session %d holds version %d, as another: %t, %w", found[0], v, kept[v], err)
		}
		if kept[v] = true; v == next {
			last = path
		} else if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	if last != "" { // the first, as where there were no others
		if err := os.Rename(last, filepath.Join(dir, "talk.json.corrupt-1")); err != nil {
			return nil, err
		}
	}
	for v := from; v <= found[0]; v++ {
		if !kept[v] {
			return nil, fmt.Errorf("session %d is there, and what was there before session %d is lost", found[0], v)
		}
	}
	return found, nil
}

// readCheckpoint also looks at each checkpoint by itself, since one that cannot be read is skipped, and deletes all but the
// last, so that they do not pile up.
func readCheckpoint(dir string, _ int) ([]int, error) {
	store := builtin.FileStore{Dir: dir}
	last, err := builtin.LatestCheckpoint(background, store, "c")
	if err != nil {
		return nil, err
	}
	keys, err := store.Keys(background, "")
	for _, key := range keys {
		data, err := store.Get(background, key)
		if err != nil {
			return nil, err
		}
		var state builtin.CheckpointState
		if err := json.Unmarshal(data, &state); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		found, err := sameIn(state.Conversation.Messages, 8, big/8)
		if err != nil || found[0] != state.StepNumber {
			return nil, fmt.Errorf("%s holds step %d, version %v, %w", key, state.StepNumber, found, err)
		}
		if state.StepNumber < last.StepNumber {
			if err := store.Delete(background, key); err != nil {
				return nil, err
			}
		}
	}
	return []int{last.StepNumber}, err
}

// readTexts reads files that have no reader but people.
func readTexts(paths ...string) (found []int, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		v, err := versionOf(string(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		found = append(found, v)
	}
	return found, nil
}
