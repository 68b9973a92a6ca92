package record

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// An AuditRecord is one line of an [Audit]: one fire of a point. Fields that do not apply are left out.
type AuditRecord struct {
	Time   time.Time `json:"time"` // UTC, by the run's clock
	Seq    uint64    `json:"seq"`  // from 1, without a gap
	Run    string    `json:"run"`
	Parent string    `json:"parent,omitempty"` // the run that started it
	Agent  string    `json:"agent,omitempty"`
	Step   int       `json:"step,omitempty"`
	Point  string    `json:"point"`

	Hook     string         `json:"hook,omitempty"`     // who decided at this fire
	Site     string         `json:"site,omitempty"`     // where it was registered, file:line
	Outcome  string         `json:"outcome,omitempty"`  // Replace, Error, or the name of the exit; Collect for contributions
	Reason   string         `json:"reason,omitempty"`   // why
	Ballots  []AuditBallot  `json:"ballots,omitempty"`  // every vote
	Failures []AuditFailure `json:"failures,omitempty"` // every hook that failed

	AuditFacts
	From *AuditFacts `json:"from,omitempty"` // what it was before the hooks, if they changed it

	Approved   string   `json:"approved,omitempty"`    // of a result: the hook that had a person asked, who said yes
	DurationMS *float64 `json:"duration_ms,omitempty"` // of the act: a call, an attempt, a model call, the run
	Lost       int      `json:"lost,omitempty"`        // records before this one that could not be written
	Torn       string   `json:"torn,omitempty"`        // SHA-256 of an unfinished line before this one
	Prev       string   `json:"prev"`                  // the hash of the record before
	Hash       string   `json:"hash,omitempty"`        // SHA-256 of the line before this field
	HMAC       string   `json:"hmac,omitempty"`        // HMAC-SHA-256 of the same, in the place of Hash
}

// AuditFacts are what a record says of the payload, as the hooks left it.
type AuditFacts struct {
	Tool      string          `json:"tool,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Result    string          `json:"result,omitempty"` // of a tool, of a model, of a run
	Err       string          `json:"err,omitempty"`
	Success   *bool           `json:"success,omitempty"`     // a refused or skipped call is none
	Status    string          `json:"status,omitempty"`      // of a call: succeeded, failed, refused, ...
	Attempt   int             `json:"attempt,omitempty"`     // which, or how many
	DecidedBy string          `json:"decided_by,omitempty"`  // the hook that answered or refused the call, ended the run
	Why       string          `json:"decided_why,omitempty"` // its reason
	Data      json.RawMessage `json:"data,omitempty"`        // an object with what else there is at the point
}

// An AuditBallot is one vote.
type AuditBallot struct {
	Hook    string `json:"hook"`
	Site    string `json:"site,omitempty"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// An AuditFailure is one hook that failed.
type AuditFailure struct {
	Hook string `json:"hook"`
	Site string `json:"site,omitempty"`
	Err  string `json:"err"`
}

// record says what a fire was.
func (a *Audit) record(run *agent.Run, fired hookkit.AnyFired) *AuditRecord {
	r := &AuditRecord{
		Point: fired.Point, Hook: a.text(fired.By), Site: fired.Site, Outcome: fired.Decision, Reason: a.text(fired.Reason),
	}
	var env *agent.Env
	if run != nil {
		env = run.Env
		r.Run, r.Parent = run.ID(), run.Parent()
	}
	if env != nil {
		r.Agent = a.text(env.Agent)
	}
	r.Time = env.Now().UTC()
	for _, b := range fired.Ballots {
		r.Ballots = append(r.Ballots, AuditBallot{a.text(b.By), b.Site, b.Decision, a.text(b.Reason)})
	}
	for _, f := range fired.Failures {
		r.Failures = append(r.Failures, AuditFailure{a.text(f.Hook), f.Site, a.text(f.Cause.Error())})
	}

	left := a.facts(redactFully(fired))
	r.AuditFacts = left.AuditFacts
	if fired.Decision != "" {
		if from := a.facts(fired.Payload); !reflect.DeepEqual(from.AuditFacts, left.AuditFacts) {
			r.From = &from.AuditFacts
		}
	}
	if fired.Collected != nil {
		r.Outcome = "Collect"
		left.data["collected"] = fired.Collected
	}
	a.exit(fired.Outcome, left.data)
	took, timed := left.took, left.timed
	switch result := fired.Result.(type) {
	case agent.LLMResponse:
		took, timed = fired.Elapsed, true
		if fired.Err == nil {
			r.Result = a.text(result.Content)
		}
	case agent.ToolCallResult:
		took, timed = fired.Elapsed, true
		if fired.Err == nil {
			r.Result = a.text(result.Output)
		}
	}
	if timed {
		ms := kit.Milliseconds(took)
		r.DurationMS = &ms
	}
	if fired.Err != nil {
		no := false
		r.Err, r.Success = a.text(fired.Err.Error()), &no
	}
	if r.Step = left.step; r.Step == 0 {
		r.Step = env.Count().Step
	}
	r.Data = a.object(left.data)
	return r
}

// redactFully is the payload as the hooks left it, but for what is not theirs to change.
func redactFully(fired hookkit.AnyFired) any {
	switch left := fired.Final.(type) {
	case agent.ToolCallRequest:
		if was, ok := fired.Payload.(agent.ToolCallRequest); ok {
			left.ID, left.Step = was.ID, was.Step
		}
		return left
	case agent.ToolCallResult:
		if was, ok := fired.Payload.(agent.ToolCallResult); ok {
			return kit.AfterHooks(was, left)
		}
	}
	return fired.Final
}

// exit adds what an exit says to the model or to a person, as far as no other record will have it.
func (a *Audit) exit(outcome any, data map[string]any) {
	switch o := outcome.(type) {
	case agent.EndTurn:
		data["reply"] = o.Reply
	case agent.RejectDone:
		data["feedback"] = o.Feedback
	case agent.Ask:
		data["prompt"] = o.Prompt
	case agent.SkipTool:
		data["answer"], data["answer_err"] = o.Result.Output, o.Result.Err
	case agent.UseReply:
		data["answer"] = o.Response.Content
	}
}

// raw is arguments or other JSON fit for a record, nil for none.
func (a *Audit) raw(data []byte) json.RawMessage { return a.Redact.CutJSON(data, a.maxValue()) }

// object is an object without empty values, nil if nothing is left.
func (a *Audit) object(data map[string]any) json.RawMessage {
	for k, v := range data {
		if v == nil || reflect.ValueOf(v).IsZero() {
			delete(data, k)
		}
	}
	if len(data) == 0 {
		return nil
	}
	return a.Redact.CutValue(data, a.maxValue())
}

func (a *Audit) maxValue() int { return a.MaxValue.Or(auditValue) }

// text is a text fit for a record: redacted, then cut.
func (a *Audit) text(s string) string { return a.Redact.CutText(s, a.maxValue()) }
