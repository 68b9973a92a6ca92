package session

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
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/generated/agent"
)

// stepsOf returns the steps of the checkpoints of an owner, in ascending order.
func stepsOf(ctx context.Context, store agent.Store, owner agent.Identity) ([]int, error) {
	keys, err := store.Keys(ctx, storekey.Of(checkpointKind, owner, "step")+"/")
	if err != nil {
		return nil, fmt.Errorf("the checkpoints cannot be listed: %w", err)
	}
	var steps []int
	for _, key := range keys {
		if n, _ := strconv.Atoi(key[strings.LastIndexByte(key, '/')+1:]); n > 0 && partKey(owner, n) == key {
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
	slog.WarnContext(ctx, "session.Checkpoint: an unreadable checkpoint is skipped",
		"key", shorten.To(key, shorten.SummaryChars), "error", err)
}

// Latest returns the last checkpoint of a conversation, with the counters of the run when it was interrupted.
// Unreadable checkpoints are skipped and logged, and so are those that follow them. Without a readable checkpoint, the
// error is a *agent.NotFound.
func Latest(ctx context.Context, store agent.Store, owner agent.Identity) (CheckpointState, error) {
	state, chain, err := latest(ctx, store, owner)
	if err != nil {
		return CheckpointState{}, err
	}
	counters, err := readCounters(ctx, store, owner)
	if err != nil {
		return CheckpointState{}, err
	}
	if counters != nil && counters.Chain == chain && counters.Counters.Step != state.Counters.Step {
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
		case state == nil || broken[part.Chain] || part.From != len(state.Messages):
			broken[part.Chain] = true
		default:
			part.Messages = append(state.Messages, part.Messages...)
			part.Task = cmp.Or(part.Task, state.Task)
			*state = part.CheckpointState
		}
	}
	if len(chains) == 0 {
		return CheckpointState{}, "", &agent.NotFound{Key: storekey.Of(checkpointKind, owner)}
	}
	newest := slices.MaxFunc(slices.Sorted(maps.Keys(chains)), func(a, b string) int {
		return cmp.Or(chains[a].Time.Compare(chains[b].Time),
			cmp.Compare(chains[a].StepNumber, chains[b].StepNumber))
	})
	return *chains[newest], newest, nil
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

// CheckpointState is the progress of a run after a step.
type CheckpointState struct {
	agent.Identity
	Run        string          `json:"run"` // its ID
	Agent      string          `json:"agent,omitempty"`
	Task       string          `json:"task,omitempty"`
	StepNumber int             `json:"step_number"`
	Messages   []agent.Message `json:"messages"` // the stored conversation
	Counters   agent.Counters  `json:"counters"` // with which the next run continues
	Time       time.Time       `json:"time"`
}

// A checkpointPart is a stored checkpoint. Its state has only the messages since the part before it, and the task only
// if it changed.
type checkpointPart struct {
	CheckpointState
	Chain string `json:"chain"`
	First bool   `json:"first,omitempty"` // of its chain
	From  int    `json:"from"`            // the number of messages in the parts before it
}

// savedCounters are the counters that are stored in each step.
type savedCounters struct {
	Chain    string         `json:"chain"`
	Task     string         `json:"task_sha256"`
	Counters agent.Counters `json:"counters"`
}

func hashOf(task string) string {
	sum := sha256.Sum256([]byte(task))
	return hex.EncodeToString(sum[:])
}

func partKey(owner agent.Identity, step int) string {
	return storekey.Of(checkpointKind, owner, "step", strconv.Itoa(step))
}

func countersKey(owner agent.Identity) string { return storekey.Of(checkpointKind, owner, "counters") }
