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

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
)

// A writer is a hook or a store that writes files.
type writer struct {
	name string
	// open starts writing to a directory and returns a function that writes one version. The killed process calls
	// it.
	open func(dir string, from int) (write func(version int) error, err error)
	// read reads the files with the production reader and returns the version in each of them, or nothing if the
	// file is missing. from is the first version of the killed process.
	read func(dir string, from int) (found []int, err error)
	// torn returns the number of unfinished lines; nil if the files are written atomically.
	torn func(dir string) (int, error)
	// ahead is the maximum number of versions before the kill; 0: a few. Fast writers need many.
	ahead int
}

var background = context.Background()

const big = 256 << 10 // many pages, so that a write takes time

// A conversation is the conversation of a run.
type conversation []agent.Message

func (conversation) ID() string                  { return "talk" }
func (c conversation) Messages() []agent.Message { return c }

// messagesOf returns a conversation with marks of one version.
func messagesOf(version, n, size int) conversation {
	var all conversation
	for range n {
		all = append(all, agent.Message{Role: agent.RoleUser, Content: textOf(version, size)})
	}
	return all
}

// sameIn returns the version of all messages.
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

// none reports whether err means that the file does not exist.
func none(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*agent.NotFound))
}

// A stopped clock, so that all runs have the same day.
type clock struct{ agent.SystemClock }

func (clock) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// runOf returns a run with the conversation.
func runOf(c agent.Conversation) *agent.Run {
	return agent.NewRun(&agent.Env{Agent: "clerk", Conversation: c, Clock: clock{}})
}

// ended fires OnRunEnd and returns the failures of the hooks.
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

// A watcher stores the failures of hooks.
type watcher struct{ failed *error }

func (w watcher) ObserveOnRunEnd(_ context.Context, _ *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
	for _, f := range fired.Failures {
		*w.failed = errors.Join(*w.failed, f)
	}
}

var writers = []writer{
	{
		name: "session.Dir",
		open: func(dir string, _ int) (func(int) error, error) {
			store := session.Dir{Path: dir}
			return func(v int) error { return store.Put(background, "a key", []byte(textOf(v, big))) }, nil
		},
		read: func(dir string, _ int) ([]int, error) {
			store := session.Dir{Path: dir}
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
			sessions := session.Sessions{Store: session.Dir{Path: dir}}
			return func(v int) error {
				return sessions.Save(background, agent.Session{Identity: talk, Messages: messagesOf(v, 8, big/8)})
			}, nil
		},
		read: readSession,
	},
	{
		name: "session.Persist",
		open: func(dir string, _ int) (func(int) error, error) {
			hook := &session.Persist{Store: session.Sessions{Store: session.Dir{Path: dir}}}
			return func(v int) error {
				messages := messagesOf(v, 8, big/8)
				run := runOf(messages)
				var hooks agent.Hooks
				hooks.Use(hook)
				if _, err := hooks.OnRunStart.Fire(background, run, &agent.RunStart{Messages: messages}); err != nil {
					return err
				}
				return ended(func() (agent.Hook, *error) { return hook, nil }, run, agent.AgentResult{})
			}, nil
		},
		read: readSession,
	},
	{
		name: "Checkpoint",
		open: func(dir string, _ int) (func(int) error, error) {
			var reported error
			var hooks agent.Hooks
			hooks.Use(&session.Checkpoint{
				Store:   session.Dir{Path: dir},
				Every:   1,
				OnError: func(err error) { reported = err },
			})
			return func(v int) error {
				hooks.AfterStep.Fire(background, runOf(messagesOf(v, 8, big/8)), agent.StepResult{Step: agent.Step{Number: v}})
				return reported
			}, nil
		},
		read: readCheckpoint,
	},
	{
		name: "memory.Facts",
		open: func(dir string, _ int) (func(int) error, error) {
			store := &memory.Facts{In: session.Dir{Path: dir}}
			return func(v int) error {
				return store.Put(background, memory.Fact{Key: "version", Value: textOf(v, big)})
			}, nil
		},
		read: func(dir string, _ int) ([]int, error) {
			store := &memory.Facts{In: session.Dir{Path: dir}}
			all, _, err := store.Search(background, memory.Query{})
			if err != nil || len(all) == 0 {
				return nil, err
			}
			v, err := wholeOf(all[0].Value, big)
			return []int{v}, err
		},
	},
	{
		name: "record.Summary",
		open: func(dir string, _ int) (func(int) error, error) {
			hook := &record.Summary{Dir: dir}
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
				return answer.EvalReport{Task: textOf(v, big)}.Save(filepath.Join(dir, "report.json"))
			}, nil
		},
		read: func(dir string, _ int) ([]int, error) {
			data, err := os.ReadFile(filepath.Join(dir, "report.json"))
			if err != nil {
				return nil, err
			}
			var r answer.EvalReport
			if err := json.Unmarshal(data, &r); err != nil {
				return nil, err
			}
			v, err := wholeOf(r.Task, big)
			return []int{v}, err
		},
	},
	trajectory, boundedNotes, endlessNotes, auditLog, recorder,
}

// The conversation of the tests.
var talk = agent.Identity{Conversation: "talk"}

func readSession(dir string, _ int) ([]int, error) {
	session, err := session.Sessions{Store: session.Dir{Path: dir}}.Load(background, talk)
	if err != nil {
		return nil, err
	}
	return sameIn(session.Messages, 8, big/8)
}

// readCheckpoint also checks each checkpoint on its own, because the store skips unreadable ones. It deletes all
// but the last to save space.
func readCheckpoint(dir string, _ int) ([]int, error) {
	store := session.Dir{Path: dir}
	last, err := session.Latest(background, store, talk)
	if err != nil {
		return nil, err
	}
	keys, err := store.Keys(background, "")
	for _, key := range keys {
		data, err := store.Get(background, key)
		if err != nil {
			return nil, err
		}
		var state session.CheckpointState
		if err := json.Unmarshal(data, &state); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		found, err := sameIn(state.Messages, 8, big/8)
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

// readTexts reads files without a production reader.
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
