package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/generated/agent"
)

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
