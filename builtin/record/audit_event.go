package record

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

var _ hooklog.Sink = (*Audit)(nil)

// WriteEvent appends an event to the log, with the whole payload and everything else that a replay needs. With it an
// Audit is a [hooklog.Sink] for any spec:
//
//	log := &record.Audit{Path: "run.jsonl", Key: key, HeadFile: head}
//	hooks.ObserveAny(agent.Record(log))
//
// All that Audit promises about its log holds for events: [VerifyAudit] finds each change, and Key, HeadFile, Store,
// Sync and Redact have the same meaning. The file is a record as well: hooklog.Read, hooklog.Replay and hooklog read
// it. The chain is in the field "chain" of each line, and the hash at its end. Texts are not truncated, and Points does
// not select events. One log may have events and AuditRecords.
//
// An event that cannot be written is an error, which the recorder reports to the failure handler of the hooks. The next
// one has the number of lost events.
func (a *Audit) WriteEvent(ctx context.Context, e hooklog.Event) error {
	if err := a.checkPlace(); err != nil {
		return err
	}
	var line bytes.Buffer
	if err := hooklog.Lines(&line, hooklog.Redact(a.Redact.JSON)).WriteEvent(ctx, e); err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.lose(e.Point, err)
	}
	return a.write(ctx, e.Point, func(lost int) chainable { return auditedEvent{line.Bytes(), lost} })
}

// An auditedEvent is an event for the log.
type auditedEvent struct {
	line []byte // with its line break
	lost int
}

// linked implements chainable.
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
