package record

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// AuditRecord is one line of an audit log: one fire of a point. Fields that do not apply are omitted. The names of the
// conversation, the user and the tenant are not redacted, so that an owner's records can be found.
type AuditRecord struct {
	Time time.Time `json:"time"` // UTC, by the run's clock
	Log  string    `json:"log"`  // identity of the log, the same in all its files
	Seq  uint64    `json:"seq"`  // starts at 1 and has no gaps
	Run  string    `json:"run"`
	agent.Identity
	Parent string `json:"parent,omitempty"` // the run that started this run
	Agent  string `json:"agent,omitempty"`
	Step   int    `json:"step,omitempty"`
	Point  string `json:"point"`

	Hook     string         `json:"hook,omitempty"`     // the hook that decided
	Site     string         `json:"site,omitempty"`     // file:line of the registration of Hook
	Outcome  string         `json:"outcome,omitempty"`  // Replace, Error, the name of the exit, or Collect
	Reason   string         `json:"reason,omitempty"`   // of the decision
	Ballots  []AuditBallot  `json:"ballots,omitempty"`  // all votes
	Failures []AuditFailure `json:"failures,omitempty"` // all failed hooks

	AuditFacts
	From *AuditFacts `json:"from,omitempty"` // the facts before the hooks, if they changed them

	Approved   string   `json:"approved,omitempty"`    // for a permitted call: the hook that asked a person
	DurationMS *float64 `json:"duration_ms,omitempty"` // of the call, attempt, model call or run
	Lost       int      `json:"lost,omitempty"`        // records lost directly before this one
	Torn       string   `json:"torn,omitempty"`        // SHA-256 of incomplete lines before this one
	Broken     string   `json:"broken,omitempty"`      // how the log was changed before this record, as its writer saw it
	Prev       string   `json:"prev"`                  // hash of the record before
	Hash       string   `json:"hash,omitempty"`        // SHA-256 of the line up to this field
	HMAC       string   `json:"hmac,omitempty"`        // HMAC-SHA-256 of the line up to this field, instead of Hash
}

// AuditFacts describe the payload after the hooks.
type AuditFacts struct {
	Tool      string          `json:"tool,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Result    string          `json:"result,omitempty"` // of the tool, model or run
	Err       string          `json:"err,omitempty"`
	Success   *bool           `json:"success,omitempty"`     // false for a refused or skipped call
	Status    string          `json:"status,omitempty"`      // of a call: succeeded, failed, refused and so on
	Attempt   int             `json:"attempt,omitempty"`     // number of the attempt, or number of attempts
	DecidedBy string          `json:"decided_by,omitempty"`  // the hook that answered the call or ended the run
	Why       string          `json:"decided_why,omitempty"` // reason of DecidedBy
	Data      json.RawMessage `json:"data,omitempty"`        // an object with further data of the point
}

// AuditBallot is one vote.
type AuditBallot struct {
	Hook    string `json:"hook"`
	Site    string `json:"site,omitempty"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// AuditFailure is the failure of one hook.
type AuditFailure struct {
	Hook string `json:"hook"`
	Site string `json:"site,omitempty"`
	Err  string `json:"err"`
}

// linked implements chainable.
func (r *AuditRecord) linked(link chainLink) []byte {
	r.Log, r.Seq, r.Torn, r.Broken, r.Prev = link.Log, link.Seq, link.Torn, link.Broken, link.Prev
	return jsonx.Encode(r)
}

// record converts a fire to a record.
func (a *Audit) record(run *agent.Run, fired hookkit.AnyFired) *AuditRecord {
	r := &AuditRecord{
		Point: fired.Point, Hook: a.text(fired.Hook), Site: fired.Site, Outcome: fired.Decision, Reason: a.text(fired.Reason),
	}
	var env *agent.Env
	if run != nil {
		env = kit.Env(run)
		r.Run, r.Parent, r.Identity = run.ID(), run.Parent(), kit.Owner(run)
	}
	if env != nil {
		r.Agent = a.text(env.Agent)
	}
	r.Time = env.Now().UTC()
	for _, b := range fired.Ballots {
		r.Ballots = append(r.Ballots, AuditBallot{a.text(b.Hook), b.Site, b.Decision, a.text(b.Reason)})
	}
	for _, f := range fired.Failures {
		r.Failures = append(r.Failures, AuditFailure{a.text(f.Hook), f.Site, a.text(f.Cause.Error())})
	}

	after := a.facts(payloadAfter(fired))
	r.AuditFacts = after.AuditFacts
	if fired.Decision != "" {
		if from := a.facts(fired.Payload); !reflect.DeepEqual(from.AuditFacts, after.AuditFacts) {
			r.From = &from.AuditFacts
		}
	}
	if fired.Collected != nil {
		r.Outcome = "Collect"
		after.data["collected"] = fired.Collected
	}
	a.exit(fired.Exit, after.data)
	took, timed := after.took, after.timed
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
	if r.Step = after.step; r.Step == 0 {
		r.Step = env.Count().Step
	}
	r.Data = a.object(after.data)
	return r
}

// payloadAfter returns the payload after the hooks, with the original values of the fields that hooks must not change.
func payloadAfter(fired hookkit.AnyFired) any {
	switch after := fired.Final.(type) {
	case agent.ToolCallRequest:
		if before, ok := fired.Payload.(agent.ToolCallRequest); ok {
			after.ID, after.Step = before.ID, before.Step
		}
		return after
	case agent.ToolCallResult:
		if before, ok := fired.Payload.(agent.ToolCallResult); ok {
			return kit.AfterHooks(before, after)
		}
	}
	return fired.Final
}

// exit adds the texts of an exit that no other record contains.
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

// raw redacts and truncates arguments or other JSON. It returns nil for empty data.
func (a *Audit) raw(data []byte) json.RawMessage { return a.Redact.CutJSON(data, a.maxValue()) }

// object redacts and truncates an object without its empty values. It returns nil for an empty object.
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

func (a *Audit) maxValue() int { return a.MaxChars.Or(auditValue) }

// text redacts and then truncates a text.
func (a *Audit) text(s string) string { return a.Redact.CutText(s, a.maxValue()) }
