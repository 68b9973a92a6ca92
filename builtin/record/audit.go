package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Audit writes an audit log: every decision of a run, with the hook that made it and its reason.
//
// For example, a rule denies "rm -rf /". The log then has a record with the point, the call, the outcome Deny, the
// hook, its file and line, and the reason. The log is a file of JSON lines, one [AuditRecord] each. [ReadAudit] reads
// the records and [ReplayAudit] replays the events of a run.
//
// Each line contains the hash of the line before and the identity of the log, so [VerifyAudit] detects lines that were
// changed, removed or inserted. While the Audit runs, it compares the end of the file with its last record before each
// new one: if somebody changed the end or replaced the file, that is reported, and the next record has it in Broken.
// With a Key this holds against every writer of the file without the key. After the program has
// ended, only a head that was noted elsewhere shows that records were removed from the end or that an older or another
// log of the same key replaced the whole: set HeadFile, or note the result of [Audit.Head].
//
// Every fire of a point in Points is recorded. A fire of another point is recorded if a hook decided, voted,
// contributed or failed. It is also recorded if the model failed, a call was denied, or tools were disabled. A refused,
// skipped or failed call is never recorded as a success. Its record names the hook that answered the call, and the
// reason. The record of a call that a person permitted says so.
//
// Secrets and personal data are removed first, then texts are truncated, then the line is encoded, so every line is
// valid JSON. Very large payloads are recorded by their beginning.
//
// The file is opened for each line, appended to in one write, and never changed, so log rotation may move it at any
// time; the next file continues the chain. Missing directories are created, and only the owner can read the file. If a
// line cannot be written completely, nothing of it stays, the failure is reported, and the next record has the number
// of lost records. If a crash leaves an incomplete line, that line stays, and the next record contains its hash. A
// failure never stops the run.
//
// Several Audits and several processes may share a file if they have the same Key. Processes take turns by a lock on
// the file .NAME.lock in the same directory. If several processes write a log, set HeadFile: a process may not have
// read the last records of the others when log rotation moves the file or somebody removes them. A symbolic link at
// Path is never followed, whatever its target.
//
// Instead of a file, a Store takes the lines, for example a database that has the sessions too. All of the above holds
// for it, except the rules about files and their locks.
//
// Audit is also a sink for records of whole payloads, see [Audit.WriteEvent].
//
// Audit observes all points. It is safe for concurrent use by any number of runs and Hooks, and records each fire once
// even if it is bound twice. Bind panics without a Path or Store, with both, and on unknown Points.
type Audit struct {
	Path  string     // of the file; required without Store
	Store AuditStore // takes the lines instead of a file, for example a database; nil: the file at Path
	// Points names the points whose fires are always recorded. Nil: AfterLLM, AfterTool, OnRunEnd, BeforeTool and
	// OnToolError. An empty list: no point; [AllPoints]: every point.
	Points   []string
	MaxChars limit.Bound[int] // characters of each text of a record; default 200
	Redact   redact.Redactor
	Key      []byte // key of the hashes, so that only its owners can recompute the chain; empty: hashes without a key
	Sync     bool   // write each line of a file to the disk before the run continues
	// HeadFile also receives the [AuditHead] of each record, and is compared with the log before each one. So a writer
	// also notices that records of another program, or of an earlier one, were removed from the end. It protects the log
	// only from writers of the log that cannot write HeadFile. "": no file.
	HeadFile string
	OnError  func(error) // receives write failures, concurrently; nil: they are logged

	once   kit.OnceObserver
	asked  hookkit.PerRun[map[string]string] // for each call that a person was asked about, the hook that asked
	direct kit.Binding                       // for callers of Observe

	failed kit.Reporter

	mu    sync.Mutex
	chain auditChain // of the log in Store
	head  AuditHead
	lost  int    // records lost since the last write
	ever  uint64 // records lost in total
}

// AllPoints in Audit.Points means every point.
const AllPoints = "*"

const auditValue = 200

var auditPoints = []string{"AfterLLM", "AfterTool", "OnRunEnd", "BeforeTool", "OnToolError"}

// Bind adds the observer to all points.
func (a *Audit) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Audit", a.check(h))
	h.ObserveAny(&auditBinding{log: a}, hookkit.Named("record.Audit"))
}

func (a *Audit) check(h *agent.Hooks) error {
	var errs []error
	if err := a.MaxChars.Check("MaxChars"); err != nil {
		errs = append(errs, err)
	}
	if err := a.checkPlace(); err != nil {
		errs = append(errs, err)
	}
	known := []string{AllPoints}
	for _, p := range h.Points() {
		known = append(known, p.Name)
	}
	for _, p := range a.Points {
		if !slices.Contains(known, p) {
			errs = append(errs, fmt.Errorf("Points names %q, which is not a point; use some of %s",
				p, strings.Join(known, ", ")))
		}
	}
	return errors.Join(errs...)
}

// checkPlace returns an error unless the log is either a file or a store.
func (a *Audit) checkPlace() error {
	switch {
	case a.Path == "" && a.Store == nil:
		return errors.New("Path is empty; name the file to write to, or set Store")
	case a.Path != "" && a.Store != nil:
		return errors.New("Path and Store are both set; leave one out")
	}
	return nil
}

// Observe records one fire. Use it to register the Audit with options: hooks.ObserveAny(audit, options...).
func (a *Audit) Observe(ctx context.Context, run *agent.Run, fired hookkit.AnyFired) {
	a.observe(ctx, &a.direct, run, fired)
}

type auditBinding struct {
	log *Audit
	as  kit.Binding
}

// Observe records one fire.
func (b *auditBinding) Observe(ctx context.Context, run *agent.Run, fired hookkit.AnyFired) {
	b.log.observe(ctx, &b.as, run, fired)
}

func (a *Audit) observe(ctx context.Context, as *kit.Binding, run *agent.Run, fired hookkit.AnyFired) {
	if !a.once.First(run, as, fired.Point, fired.Verdict) {
		return
	}
	approved := a.approval(run, fired)
	if !a.wants(fired) {
		return
	}
	record := a.record(run, fired)
	record.Approved = approved
	err := a.write(ctx, fired.Point, func(lost int) chainable {
		record.Lost = lost
		return record
	})
	if err != nil {
		a.failed.Report("record.Audit", a.OnError, err)
	}
}

// write writes a record to the log. The function recordAfter gets the number of records that were lost directly before.
// A problem with a record that is written nevertheless is reported and is not an error.
func (a *Audit) write(ctx context.Context, point string, recordAfter func(lost int) chainable) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	head, err := a.append(ctx, recordAfter(a.lost))
	if noticed := new(errNoticed); errors.As(err, noticed) {
		a.failed.Report("record.Audit", a.OnError, fmt.Errorf("%s: %w", a.name(), err))
		err = nil
	}
	if err != nil {
		return a.lose(point, err)
	}
	a.head, a.lost = head, 0
	return nil
}

// lose counts a lost record and returns the error that says so. The caller holds mu.
func (a *Audit) lose(point string, err error) error {
	a.lost++
	a.ever++
	return fmt.Errorf("%s: a record of %s is lost, %d so far: %w", a.name(), point, a.ever, err)
}

// name names the log in errors.
func (a *Audit) name() string {
	if a.Path == "" {
		return "audit log"
	}
	return "audit log " + a.Path
}

// append writes a record to the file or the store. A cancelled run is recorded too.
func (a *Audit) append(ctx context.Context, record chainable) (AuditHead, error) {
	if a.Store == nil {
		return appendAudit(a.Path, a.HeadFile, a.Key, a.Sync, record)
	}
	err := a.chain.appendTo(context.WithoutCancel(ctx), a.Store, a.HeadFile, a.Key, record)
	return a.chain.head, err
}

// Head returns the head of the log after the last record of this Audit, or a zero head before the first one. A program
// can note it elsewhere, for example in another system when it ends.
func (a *Audit) Head() AuditHead {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.head
}

// approval returns, at AfterTool, the hook that asked a person to permit the call, or "" if nobody was asked. No point
// fires for a permission, so a question without a later denial counts as permitted.
func (a *Audit) approval(run *agent.Run, fired hookkit.AnyFired) (by string) {
	if run == nil {
		return ""
	}
	change := func(f func(asked map[string]string)) {
		a.asked.Do(run, func(asked *map[string]string) {
			if *asked == nil {
				*asked = make(map[string]string)
			}
			f(*asked)
		})
	}
	switch p := fired.Payload.(type) {
	case agent.ToolCallRequest:
		if _, ok := fired.Exit.(agent.Ask); ok {
			change(func(asked map[string]string) { asked[p.ID] = fired.Hook })
		}
	case agent.Grant: // the question of a resumed run was asked in another process
		change(func(asked map[string]string) { asked[p.Call.ID] = p.Question.By })
	case agent.Denial:
		change(func(asked map[string]string) { delete(asked, p.Call.ID) })
	case agent.ToolCallResult:
		change(func(asked map[string]string) {
			by = asked[p.Call.ID]
			delete(asked, p.Call.ID)
		})
	}
	return a.text(by)
}

// wants reports whether a fire is recorded.
func (a *Audit) wants(fired hookkit.AnyFired) bool {
	points := a.Points
	if points == nil {
		points = auditPoints
	}
	if slices.Contains(points, fired.Point) || slices.Contains(points, AllPoints) {
		return true
	}
	switch fired.Point {
	case "OnPermissionGranted", "OnPermissionDenied", "OnToolsDisabled": // decided by the loop, a person or a switch
		return true
	case "AroundTool": // OnToolError records a failed attempt, AfterTool the result
		fired.Err = nil
	}
	return fired.Decision != "" || fired.Collected != nil || fired.Err != nil ||
		len(fired.Failures) > 0 || len(fired.Ballots) > 0
}
