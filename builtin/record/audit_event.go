package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"reflect"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
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
	m := &a.makers[maphash.String(makerSeed, e.Run.ID)%uint64(len(a.makers))]
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clean = func(value []byte) json.RawMessage {
		if slices.Contains(owner, string(value)) {
			return value
		}
		return clean(value)
	}
	err := a.write(ctx, m, e)
	if errors.Is(err, errOtherFile) {
		m.lines = nil
		err = a.write(ctx, m, e)
	}
	return err
}

// write makes the line of an event, and appends it to the log. The caller holds the lock of m.
func (a *Audit) write(ctx context.Context, m *lineMaker, e hooklog.Event) error {
	refers := m.lines != nil
	line, err := m.line(ctx, e)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		err = a.append(ctx, auditedEvent{line: line, lost: a.lost, refers: refers, file: m.file})
	}
	if m.file = a.chain.file; err == nil || errors.Is(err, errOtherFile) {
		return err
	}
	m.lines = nil // the next line must not refer to this one
	return a.lose(e.Point, err)
}

// A lineMaker redacts and encodes the events of some runs, one after the other, because a line refers to earlier lines
// of its run. Redaction takes the time that the Redactor needs, so the other runs do not wait for it: an Audit has
// several makers, each with a lock of its own. Their lines are appended in the order in which they are ready.
type lineMaker struct {
	mu    sync.Mutex
	lines hooklog.Sink // makes the lines, in text
	text  bytes.Buffer
	clean func([]byte) json.RawMessage // redacts the current event
	file  int                          // the number of the file that has its last line, see auditChain
}

var makerSeed = maphash.MakeSeed()

// line returns the line of an event, with its line break. The caller holds mu.
func (m *lineMaker) line(ctx context.Context, e hooklog.Event) ([]byte, error) {
	if m.lines == nil {
		m.lines = hooklog.Lines(&m.text, hooklog.Redact(func(value []byte) json.RawMessage { return m.clean(value) }))
	}
	m.text.Reset()
	err := m.lines.WriteEvent(ctx, e)
	return bytes.Clone(m.text.Bytes()), err
}

// auditedFires are the events of the fires that an Audit records as a hook. Their texts are truncated.
type auditedFires struct{ log *Audit }

// WriteEvent implements [hooklog.Sink]. A failure never stops the run.
func (f auditedFires) WriteEvent(ctx context.Context, e hooklog.Event) error {
	e.Time = e.Time.UTC()
	names := []*string{&e.By}
	for i := range e.Ballots {
		names = append(names, &e.Ballots[i].By)
	}
	for i := range e.Failures {
		names = append(names, &e.Failures[i].By)
	}
	for i := range e.Slow {
		names = append(names, &e.Slow[i].By)
	}
	for _, name := range names {
		*name = f.log.Redact.CutText(*name, auditValue)
	}
	if err := f.log.writeEvent(ctx, e, f.log.cut); err != nil {
		f.log.failed.Report("record.Audit", f.log.OnError, err)
	}
	return nil
}

// selected returns a fire as it is recorded. Keys and bytes in it are redacted, texts are not yet. Unlike the payloads
// of the program it can always be encoded, also if it has JSON of a provider that is invalid.
func (a *Audit) selected(fired hookkit.AnyFired) hookkit.AnyFired {
	encodable := func(v any) any {
		if v == nil {
			return nil
		}
		if a.MaxChars != limit.None {
			v = withoutMessages(v)
		}
		return a.Redact.Value(v, redact.Shape{Text: func(s string) string { return s }})
	}
	fired.Payload, fired.Final = encodable(fired.Payload), encodable(fired.Final)
	fired.Exit, fired.Collected = encodable(fired.Exit), encodable(fired.Collected)
	fired.Ballots = slices.Clone(fired.Ballots)
	for i, b := range fired.Ballots {
		fired.Ballots[i].Exit = encodable(b.Exit)
	}
	return fired
}

// withoutMessages returns a payload without the conversation and the calls of a run, which have events of their own. So
// a log is linear in the run.
func withoutMessages(payload any) any {
	short := reflect.New(reflect.TypeOf(payload)).Elem()
	short.Set(reflect.ValueOf(payload))
	for _, list := range []string{"Messages", "Calls"} {
		if short.Kind() == reflect.Struct && short.FieldByName(list).IsValid() {
			short.FieldByName(list).SetZero()
		}
	}
	return short.Interface()
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
	line   []byte // with its line break
	lost   int
	refers bool // the line may refer to earlier lines, which are in the file with this number
	file   int
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
