package agentspec

import "time"

// A Step is the progress of a run.
type Step struct {
	Number  int           `json:"number"` // of the step, from 1; at ShouldStop the number of completed steps
	Max     int           `json:"max"`    // the loop's own step limit; 0: no limit
	Usage   Usage         `json:"usage"`  // of the run so far
	Elapsed time.Duration `json:"elapsed_ns"`
	Last    *StepResult   `json:"last,omitempty"` // the previous step, or at ShouldStop the completed step; may be nil
	Done    bool          `json:"done,omitempty"` // at ShouldStop: no step follows anyway, so a step limit is irrelevant
}

// A StepResult is the result of a completed step. Last of its Step is nil.
type StepResult struct {
	Step     Step             `json:"step"`
	Response *LLMResponse     `json:"response,omitempty"` // nil without a reply; without content if AfterLLM failed
	Results  []ToolCallResult `json:"results,omitempty"`  // one for each call of the reply, in call order
	Err      string           `json:"err,omitempty"`      // why the step failed

	// Suspended reports that the step waits for answers. Results is empty then, and the step continues with the same
	// number when the run is resumed.
	Suspended bool `json:"suspended,omitempty"`
}

// A DoneRequest is an answer that the model wants to finish with.
type DoneRequest struct {
	Answer     string           `json:"answer"`
	Call       *ToolCallRequest `json:"call,omitempty"` // of the done tool; nil for a reply without calls
	Rejections int              `json:"rejections"`     // in this run so far
}

// DoneAccepted is an answer that passed every gate.
type DoneAccepted struct {
	Answer string           `json:"answer"`
	Call   *ToolCallRequest `json:"call,omitempty"`
}

// A BudgetExceeded is a budget that was exceeded, or would be by the next action.
type BudgetExceeded struct {
	Kind      BudgetKind       `json:"kind"`
	Used      float64          `json:"used"`
	Limit     float64          `json:"limit"`
	Estimated bool             `json:"estimated,omitempty"` // Used is an estimate that includes the next action
	Call      *ToolCallRequest `json:"call,omitempty"`      // the call that exceeded the budget, or nil
	Detail    string           `json:"detail,omitempty"`    // the reaction, for example a truncation
	By        string           `json:"by,omitempty"`        // the owner of the budget; empty: the loop
}

// A BudgetKind is the resource of a budget, and determines the unit of Used and Limit.
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
