package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

var _ hooklog.Sink = (*Audit)(nil)

// WriteEvent appends an event to the log, with the whole payload and everything else that a replay needs. With it an
// Audit is a [hooklog.Sink] for any spec:
//
//	log := &record.Audit{Path: "run.jsonl", Key: key, HeadFile: head}
//	hooks.ObserveAny(agent.Record(log))
//
// All that Audit promises about its log holds for these events: [VerifyAudit] finds each change, and Key, HeadFile,
// Store, Sync and Redact have the same meaning. The chain is in the field "chain" of each line, and the hash at its
// end. Texts are not truncated, and Points does not select events.
//
// An event that cannot be written is an error, which the recorder reports to the failure handler of the hooks. The next
// one has the number of lost events.
func (a *Audit) WriteEvent(ctx context.Context, e hooklog.Event) error {
	return a.writeEvent(ctx, e, a.Redact.JSON)
}

// writeEvent is WriteEvent for an event that a function redacts. The names of the conversation, the user and the tenant
// stay, so that the events of an owner can be found.
func (a *Audit) writeEvent(ctx context.Context, e hooklog.Event, clean func([]byte) json.RawMessage) error {
	if err := a.checkPlace(); err != nil {
		return err
	}
	var owner []string
	for _, name := range e.Run.Labels {
		owner = append(owner, string(jsonx.Encode(name)))
	}
	keepOwner := func(value []byte) json.RawMessage {
		if slices.Contains(owner, string(value)) {
			return value
		}
		return clean(value)
	}
	var line bytes.Buffer
	if err := hooklog.Lines(&line, hooklog.Redact(keepOwner)).WriteEvent(ctx, e); err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.lose(e.Point, err)
	}
	return a.write(ctx, e.Point, line.Bytes())
}

// auditSpec is the spec of the points that an Audit observes.
var auditSpec = new(agent.Hooks).Points()[0].Spec

var auditDecisions = map[string]string{
	"": wire.Continue, hookkit.DecisionReplace: wire.Replace, hookkit.DecisionEdit: wire.Edit,
}

// event returns the event of a fire. Its names, keys and bytes are redacted, its texts are not yet. Unlike
// hooklog.Capture it accepts every payload, for example one with JSON of a provider that is invalid.
func (a *Audit) event(run *agent.Run, fired hookkit.AnyFired) hooklog.Event {
	encode := func(v any) json.RawMessage {
		if a.MaxChars != limit.None {
			v = withoutMessages(v)
		}
		return jsonx.Encode(a.Redact.Value(v, redact.Shape{Text: func(s string) string { return s }}))
	}
	name := func(s string) string { return a.Redact.CutText(s, auditValue) }
	e := hooklog.Event{
		Protocol: wire.Protocol, Seq: a.events.Add(1), Time: kit.Env(run).Now().UTC(), Spec: auditSpec, Point: fired.Point,
		Run: wire.InfoOf(run), Payload: encode(fired.Payload), By: name(fired.Hook), Site: fired.Site, Reason: fired.Reason,
		Decision: cmp.Or(auditDecisions[fired.Decision], fired.Decision), Elapsed: fired.Elapsed,
	}
	if fired.Err != nil {
		e.Error = fired.Err.Error()
	}
	if final := encode(fired.Final); fired.Decision != "" && !bytes.Equal(final, e.Payload) {
		e.Final = final
	}
	if fired.Exit != nil {
		e.Value = encode(fired.Exit)
	}
	if fired.Collected != nil {
		e.Collected = encode(fired.Collected)
	}
	for _, b := range fired.Ballots {
		e.Ballots = append(e.Ballots, hooklog.Ballot{
			By: name(b.Hook), Site: b.Site, Decision: b.Decision, Reason: b.Reason, Value: encode(b.Exit),
		})
	}
	for _, f := range fired.Failures {
		e.Failures = append(e.Failures, hooklog.Failure{By: name(f.Hook), Site: f.Site, Cause: f.Cause.Error()})
	}
	return e
}

// withoutMessages returns a payload without the conversation and the calls of a run, which have events of their own. So
// a log is linear in the run.
func withoutMessages(payload any) any {
	switch p := payload.(type) {
	case agent.RunStart:
		p.Messages = nil
		return p
	case agent.ContextUse:
		p.Messages = nil
		return p
	case agent.Compaction:
		p.Messages = nil
		return p
	case agent.Compacted:
		p.Messages = nil
		return p
	case agent.LLMRequest:
		p.Messages = nil
		return p
	case agent.AgentResult:
		p.Messages, p.Calls = nil, nil
		return p
	}
	return payload
}

// cut redacts and truncates a JSON value of an event.
func (a *Audit) cut(value []byte) json.RawMessage {
	v, err := jsonx.Decode(value)
	if err != nil || a.MaxChars == limit.None {
		return a.Redact.JSON(value)
	}
	return a.Redact.CutValue(v, a.MaxChars.Or(auditValue))
}

// An auditedEvent is an event for the log.
type auditedEvent struct {
	line []byte // with its line break
	lost int
}

// linked returns the line as a JSON object that contains the link.
func (e auditedEvent) linked(link chainLink) []byte {
	link.Lost = e.lost
	out := append(bytes.TrimSuffix(e.line, []byte("}\n")), `,"chain":`...)
	return append(append(out, jsonx.Encode(link)...), '}')
}

// eventLink returns the link and the hash in the line of an event.
func eventLink(line []byte) (link chainLink, hash string, ok bool) {
	var parsed struct {
		Chain *chainLink `json:"chain"`
		Hash  string     `json:"hash"`
		HMAC  string     `json:"hmac"`
	}
	if json.Unmarshal(line, &parsed) != nil || parsed.Chain == nil {
		return link, "", false
	}
	return *parsed.Chain, parsed.Hash + parsed.HMAC, true
}
