package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Task is the request for a run. Only ID, Agent and Text are required.
type Task struct {
	// ID identifies the run. It has 1 to 64 letters, digits, "-" and "_". Submitting an ID twice is one run, so a client
	// that does not know whether its first attempt arrived submits again.
	ID    string `json:"id"`
	Agent string `json:"agent"` // the name in Worker.Agents
	Text  string `json:"text"`  // the task for the agent

	Parts        []agent.Part    `json:"parts,omitempty"`        // content of the task other than text
	Messages     []agent.Message `json:"messages,omitempty"`     // the conversation before the task
	Conversation string          `json:"conversation,omitempty"` // UTF-8, as User and Tenant
	User         string          `json:"user,omitempty"`
	Tenant       string          `json:"tenant,omitempty"`
	Seed         uint64          `json:"seed,omitempty"` // of the first process; 0: random
	Data         json.RawMessage `json:"data,omitempty"` // of the program for its hooks and tools, in Env.Data
}

func (t Task) check() error {
	var errs []error
	if !ValidID(t.ID) {
		errs = append(errs, fmt.Errorf("%.70q cannot be the ID of a run; use 1 to 64 letters, digits, - and _", t.ID))
	}
	if t.Agent == "" {
		errs = append(errs, errors.New("the agent is missing; name one of the workers in Agent"))
	}
	if t.Text == "" && len(t.Parts) == 0 {
		errs = append(errs, errors.New("the task is empty; give it a Text"))
	}
	if len(t.Data) > 0 && !json.Valid(t.Data) {
		errs = append(errs, errors.New("the Data is not valid JSON; encode it with json.Marshal"))
	}
	for _, field := range []struct{ name, text string }{
		{"agent", t.Agent}, {"conversation", t.Conversation}, {"user", t.User}, {"tenant", t.Tenant},
	} {
		if !utf8.ValidString(field.text) { // JSON would store different names as the same one
			errs = append(errs, fmt.Errorf("the %s %.70q is not UTF-8; encode it, for example in hexadecimal", field.name,
				field.text))
		}
	}
	return errors.Join(errs...)
}

// ValidID reports whether a text can be the ID of a run: 1 to 64 letters, digits, "-" and "_".
func ValidID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// A State is the state of a run.
type State string

// The states of a run. Done, Failed, Cancelled and SetAside are final.
const (
	Queued    State = "queued"    // waits for a worker
	Running   State = "running"   // a worker has claimed it
	Suspended State = "suspended" // waits for the answers of persons and holds no worker
	Done      State = "done"      // ended with a result of its agent, also one that a limit or a hook stopped
	Failed    State = "failed"    // ended with an error
	Cancelled State = "cancelled" // ended by Client.Cancel
	SetAside  State = "set_aside" // ended by the fleet, because it stopped its workers again and again
)

// Final reports whether a run in this state has its result.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Cancelled || s == SetAside
}

// A Result is the end of a run.
type Result struct {
	State      State       `json:"state"`
	Reply      string      `json:"reply,omitempty"`
	Err        string      `json:"err,omitempty"`   // why the run failed, was cancelled or set aside
	Cause      agent.Cause `json:"cause,omitempty"` // of AgentResult.Stop
	Message    string      `json:"message,omitempty"`
	Steps      int         `json:"steps"`
	ModelCalls int         `json:"model_calls"`
	ToolCalls  int         `json:"tool_calls"`
	Usage      agent.Usage `json:"usage"`
	Worker     string      `json:"worker,omitempty"` // that ended the run
	Claims     int         `json:"claims"`           // by workers, in the life of the run
}

// A Status describes a run.
type Status struct {
	Task      Task        `json:"task"`
	State     State       `json:"state"`
	Worker    string      `json:"worker,omitempty"` // that claimed the run last
	Hooks     string      `json:"hooks,omitempty"`  // Worker.Hooks of the first claim
	Step      int         `json:"step"`             // the last saved step, or that of the result
	ToolCalls int         `json:"tool_calls"`       // until that step, as is Usage
	Usage     agent.Usage `json:"usage"`
	Claims    int         `json:"claims"`              // by workers so far
	Questions []Question  `json:"questions,omitempty"` // of a suspended run
	Result    *Result     `json:"result,omitempty"`    // of a final state
	Submitted time.Time   `json:"submitted"`           // by the clock of the server, as is Changed
	Changed   time.Time   `json:"changed"`
}
