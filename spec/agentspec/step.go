package agentspec

import "time"

// A Step is where a run stands.
type Step struct {
	Number  int           `json:"number"` // of the step, from 1; at ShouldStop the count of steps made so far
	Max     int           `json:"max"`    // the loop's own limit of steps; 0: none
	Usage   Usage         `json:"usage"`  // of the run so far
	Elapsed time.Duration `json:"elapsed_ns"`
	Last    *StepResult   `json:"last,omitempty"` // the step before, or at ShouldStop the one just made; nil if there is none
	Done    bool          `json:"done,omitempty"` // at ShouldStop: no step follows anyway, so that a limit of steps does not matter
}

// A StepResult is a step that is over. Last of its Step is nil.
type StepResult struct {
	Step     Step             `json:"step"`
	Response *LLMResponse     `json:"response,omitempty"` // nil if no reply came
	Results  []ToolCallResult `json:"results,omitempty"`  // one for each call of the reply, in call order
	Err      string           `json:"err,omitempty"`      // why the step failed
}

// A DoneRequest is an answer with which the model wants to finish.
type DoneRequest struct {
	Answer     string           `json:"answer"`
	Call       *ToolCallRequest `json:"call,omitempty"` // of the done tool; nil for a reply without calls
	Rejections int              `json:"rejections"`     // in this run so far
}

// DoneAccepted is the answer that passed every gate.
type DoneAccepted struct {
	Answer string           `json:"answer"`
	Call   *ToolCallRequest `json:"call,omitempty"`
}

// A BudgetExceeded is a budget that was passed, or would be by what comes next.
type BudgetExceeded struct {
	Kind      BudgetKind       `json:"kind"`
	Used      float64          `json:"used"`
	Limit     float64          `json:"limit"`
	Estimated bool             `json:"estimated,omitempty"` // Used is an estimate that includes what comes next
	Call      *ToolCallRequest `json:"call,omitempty"`      // the call that passed it, if one did
	Detail    string           `json:"detail,omitempty"`    // what was done about it
	By        string           `json:"by,omitempty"`        // who holds the budget; empty: the loop
}

// A BudgetKind says what a budget counts, and so the unit of Used and Limit.
type BudgetKind string

// The kinds of budget.
const (
	BudgetSteps    BudgetKind = "steps"
	BudgetTokens   BudgetKind = "tokens"   // of the run
	BudgetCost     BudgetKind = "cost"     // in the unit of Usage.Cost
	BudgetTime     BudgetKind = "time"     // in seconds
	BudgetContext  BudgetKind = "context"  // tokens of one request
	BudgetBriefing BudgetKind = "briefing" // tokens of the texts for one prompt
)
