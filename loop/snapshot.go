package loop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
)

// stateVersion is the version of the format of Suspension.State. Change it if an older loop would read a new state
// wrongly.
const stateVersion = 1

// A snapshot is a suspended run. Suspension.State has the snapshot of the outermost run as JSON; those of the runs that
// it started are nested in it.
type snapshot struct {
	Version      int             `json:"version"`
	Generation   int             `json:"generation"` // how often the run was suspended
	Run          string          `json:"run"`
	Agent        string          `json:"agent"`
	Tenant       string          `json:"tenant,omitempty"`
	User         string          `json:"user,omitempty"`
	Conversation string          `json:"conversation,omitempty"`
	Seed         uint64          `json:"seed"`
	Random       []byte          `json:"random"` // the position of Env.Random
	Task         string          `json:"task"`
	Data         json.RawMessage `json:"data,omitempty"` // Request.Data
	Counters     Resume          `json:"counters"`
	Reported     []string        `json:"reported_budgets,omitempty"`
	Compaction   *string         `json:"compaction,omitempty"` // the reason of a requested compaction

	Answer   *savedType        `json:"answer,omitempty"` // the type that the answer must have; nil: any text
	Messages []agent.Message   `json:"messages"`
	Response agent.LLMResponse `json:"response"` // of the suspended step

	// The step waits either for calls of the reply, or for the agent that took over when all calls were answered.
	Calls   []savedCall            `json:"calls,omitempty"`
	Results []agent.ToolCallResult `json:"results,omitempty"` // of the calls before the handoff
	Target  *snapshot              `json:"target,omitempty"`  // the run of the agent that took over
}

// A savedType is the type of the answer of [RunAs].
type savedType struct {
	Name   string          `json:"name"` // in the response format
	Schema json.RawMessage `json:"schema"`
}

// A savedCall is a call of a suspended reply. A call without Result, Question and Spawned is permitted and waits only
// for the other calls.
type savedCall struct {
	ID       string                `json:"id"`
	Name     string                `json:"name"`
	Args     []byte                `json:"args"` // the exact bytes, which the approval is about
	Fired    bool                  `json:"fired,omitempty"`
	Changed  string                `json:"changed,omitempty"`  // that its arguments were changed, for the model
	Question *agent.Question       `json:"question,omitempty"` // not answered yet
	Skip     *savedSkip            `json:"skip,omitempty"`     // the result that a hook gave, if the answer permits it
	Result   *agent.ToolCallResult `json:"result,omitempty"`
	Last     bool                  `json:"last,omitempty"` // the call hands over or finishes
	To       string                `json:"to,omitempty"`   // the target of a permitted handoff
	Task     string                `json:"task,omitempty"` // the task for To
	Spawned  []savedSpawn          `json:"spawned,omitempty"`
	Deferred bool                  `json:"deferred,omitempty"` // its tool or a hook has deferred the call
}

// A savedSkip is the outcome SkipTool of a hook of BeforeTool.
type savedSkip struct {
	Result agent.ToolCallResult `json:"result"`
	Reason string               `json:"reason,omitempty"`
	By     string               `json:"by,omitempty"`
}

// A savedSpawn is a run that a call has started: suspended or finished.
type savedSpawn struct {
	Key    string             `json:"key"` // see spawnKey
	State  *snapshot          `json:"state,omitempty"`
	Result *agent.AgentResult `json:"result,omitempty"`
	Err    string             `json:"err,omitempty"`
}

// waits reports whether a call waits for a run that it has started.
func (c *savedCall) waits() bool {
	return slices.ContainsFunc(c.Spawned, func(s savedSpawn) bool { return s.State != nil })
}

// each calls f for every suspended run of the tree.
func (s *snapshot) each(f func(*snapshot)) {
	f(s)
	for _, c := range s.Calls {
		for _, spawned := range c.Spawned {
			if spawned.State != nil {
				spawned.State.each(f)
			}
		}
	}
	if s.Target != nil {
		s.Target.each(f)
	}
}

// questions returns the pending questions of the tree.
func (s *snapshot) questions() (pending []agent.Question) {
	s.each(func(s *snapshot) {
		for _, c := range s.Calls {
			if c.Question != nil {
				pending = append(pending, *c.Question)
			}
		}
	})
	return pending
}

// id returns the ID of the Suspension.
func (s *snapshot) id() string { return fmt.Sprintf("%s.%d", s.Run, s.Generation) }

// suspension returns the public part of the state.
func (s *snapshot) suspension() *agent.Suspension {
	id := agent.Identity{Tenant: s.Tenant, User: s.User, Conversation: s.Conversation}
	if id.Conversation == "" {
		id = (&agent.Env{Tenant: s.Tenant, User: s.User, Root: s.Run}).Identity()
	}
	return &agent.Suspension{
		Version: stateVersion, ID: s.id(), Run: s.Run, Agent: s.Agent, Owner: id, Questions: s.questions(),
	}
}

// encode returns the state for the caller.
func (s *snapshot) encode() (*agent.Suspension, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("the state of the suspended run cannot be encoded: %w", err)
	}
	made := s.suspension()
	made.State, made.Digest = data, digest(data)
	return made, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// questionDigest binds an answer to the question, the tool and the exact arguments.
func questionDigest(id string, call agent.ToolCallRequest) string {
	var b bytes.Buffer
	for _, part := range [][]byte{[]byte(id), []byte(call.Name), call.Args} {
		fmt.Fprintf(&b, "%d:%s", len(part), part)
	}
	return digest(b.Bytes())
}
