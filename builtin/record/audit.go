package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Audit writes an audit log: every decision of a run, with the hook that made it and its reason.
//
// For example, a rule denies "rm -rf /". The log then has an event with the point, the call, the decision Deny, the
// hook, its file and line, and the reason. The log is a record of package hooklog, with a hash chain: hooklog.Read
// reads its events, hooklog.Replay replays them, and [Read] shows them to views.
//
// Each line contains the hash of the line before and the identity of the log, so [VerifyAudit] detects lines that were
// changed, removed or inserted. While the Audit runs, it compares the end of the file with its last line before each
// new one: if somebody changed the end or replaced the file, that is reported, and the next line has it in its chain.
// With a Key this holds against every writer of the file without the key. After the program has
// ended, only a head that was noted elsewhere shows that lines were removed from the end or that an older or another
// log of the same key replaced the whole: set HeadFile, or note the result of [Audit.Head].
//
// Every fire of a point in Points is recorded. A fire of another point is recorded if a hook decided, voted,
// contributed or failed. It is also recorded if the run failed, a call was denied or permitted by a person, or tools
// were disabled. The result of a refused, skipped or failed call never has the status of a success. It names the hook
// that answered the call, and the reason. Acts are not recorded, only the points before and after them.
//
// Secrets and personal data are removed first, then texts are truncated, then the line is encoded, so every line is
// valid JSON. Payloads are recorded without the messages of the conversation, and very large ones by their beginning:
// the first 400 values.
// For whole payloads, which a replay needs, set MaxChars to limit.None, or use the Audit as a sink: see
// [Audit.WriteEvent].
//
// The file is opened for each line, appended to in one write, and never changed, so log rotation may move it at any
// time; the next file continues the chain. Missing directories are created, and only the owner can read the file. If a
// line cannot be written completely, nothing of it stays, the failure is reported, and the next line has the number
// of lost events. If a crash leaves an incomplete line, that line stays, and the next line contains its hash. A
// failure never stops the run.
//
// Several Audits and several processes may share a file if they have the same Key. They take turns by a lock on the
// file .NAME.lock in the same directory. If several write a log, set HeadFile: one of them may not have read the last
// lines of the others when log rotation moves the file or somebody removes them. A symbolic link at Path is never
// followed, whatever its target.
//
// Instead of a file, a Store takes the lines, for example a database that has the sessions too. All of the above holds
// for it, except the rules about files and their locks.
//
// Audit observes all points. It is safe for concurrent use by any number of runs and Hooks, and records each fire once
// even if it is bound twice. Bind panics without a Path or Store, with both, and on unknown Points.
type Audit struct {
	Path  string     // of the file; required without Store
	Store AuditStore // takes the lines instead of a file, for example a database; nil: the file at Path
	// Points names the points whose fires are always recorded. Nil: AfterLLM, AfterTool, OnRunEnd, BeforeTool and
	// OnToolError. An empty list: no point; [AllPoints]: every point.
	Points   []string
	MaxChars limit.Bound[int] // characters of each text of an event; default 200
	Redact   redact.Redactor
	Key      []byte // key of the hashes, so that only its owners can recompute the chain; empty: hashes without a key
	Sync     bool   // write each line of a file to the disk before the run continues
	// HeadFile also receives the [AuditHead] of each line, and is compared with the log before each one. So a writer
	// also notices that lines of another program, or of an earlier one, were removed from the end. It protects the log
	// only from writers of the log that cannot write HeadFile. "": no file.
	HeadFile string
	OnError  func(error) // receives write failures, concurrently; nil: they are logged

	once     kit.OnceObserver
	failed   kit.Reporter
	start    sync.Once
	recorder agent.AnyObserver // of the fires that the Audit records as a hook

	makers [16]lineMaker // by the run
	mu     sync.Mutex    // for the fields below; nobody who holds it waits for the Redactor
	chain  auditChain
	lost   int    // events lost since the last write
	ever   uint64 // events lost in total
}

// AllPoints in Audit.Points means every point.
const AllPoints = "*"

const auditValue = 200

var auditPoints = []string{"AfterLLM", "AfterTool", "OnRunEnd", "BeforeTool", "OnToolError"}

// Bind adds the observer to all points.
func (a *Audit) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Audit", a.check(h))
	h.ObserveAny(boundAudit{a, a.once.Bind()}, hookkit.Named("record.Audit"))
}

func (a *Audit) check(h *agent.Hooks) error {
	errs := []error{a.MaxChars.Check("MaxChars"), a.checkPlace()}
	known := []string{AllPoints}
	for _, p := range h.Points() {
		if !isAct(p.Name) {
			known = append(known, p.Name)
		}
	}
	for _, p := range a.Points {
		if !slices.Contains(known, p) {
			errs = append(errs, fmt.Errorf("Points names %q, which is not a recorded point; use some of %s",
				p, strings.Join(known, ", ")))
		}
	}
	return errors.Join(errs...)
}

// checkPlace returns an error unless the log is either a file or a store, with options for it.
func (a *Audit) checkPlace() error {
	switch {
	case a.Path == "" && a.Store == nil:
		return errors.New("Path is empty; name the file to write to, or set Store")
	case a.Path != "" && a.Store != nil:
		return errors.New("Path and Store are both set; leave one out")
	case a.Store != nil && a.Sync:
		return errors.New("Sync is for a file, and Store is set; leave Sync out: a store's lines are permanent")
	case a.Path != "" && a.Path == a.HeadFile:
		return errors.New("Path and HeadFile are the same file; name two")
	}
	return nil
}

// A boundAudit is one Bind of an Audit.
type boundAudit struct {
	*Audit
	as *kit.Binding
}

// SlowHooks is the limit after which an event has the time of a hook, see [hooklog.SlowAfter].
func (boundAudit) SlowHooks() time.Duration { return hooklog.SlowAfter }

// Observe records one fire.
func (a boundAudit) Observe(ctx context.Context, run *agent.Run, fired hookkit.AnyFired) {
	if a.once.First(run, a.as, fired) && a.wants(fired) {
		a.start.Do(func() { a.recorder = agent.Record(auditedFires{a.Audit}) })
		a.recorder.Observe(ctx, run, a.selected(fired))
	}
}

// lose counts a lost record and returns the error that says so. The caller holds mu.
func (a *Audit) lose(point string, err error) error {
	a.lost++
	a.ever++
	return fmt.Errorf("%s: an event of %s is lost, %d so far: %w", a.name(), point, a.ever, err)
}

// name names the log in errors.
func (a *Audit) name() string {
	if a.Path == "" {
		return "audit log"
	}
	return "audit log " + a.Path
}

// append writes a record to the file or the store, also if the run was cancelled. A problem with a record that is
// written nevertheless is reported and is not an error. The caller holds mu.
func (a *Audit) append(ctx context.Context, record auditedEvent) error {
	log := a.Store
	if log == nil {
		defer atomicfile.LockSharedBriefly(a.Path)()
		log = auditFile{a.Path, a.Sync}
	}
	if a.chain.path != a.Path || !bytes.Equal(a.chain.key, a.Key) { // another log
		a.chain = auditChain{path: a.Path, key: bytes.Clone(a.Key), file: a.chain.file + 1}
	}
	err := a.chain.append(context.WithoutCancel(ctx), log, a.HeadFile, record)
	if noticed := new(errNoticed); errors.As(err, noticed) {
		a.failed.Report("record.Audit", a.OnError, fmt.Errorf("%s: %w", a.name(), err))
		err = nil
	}
	if err == nil {
		a.lost = 0
	}
	return err
}

// Head returns the head of the log after the last record of this Audit, or a zero head before the first one. A program
// can note it elsewhere, for example in another system when it ends.
func (a *Audit) Head() AuditHead {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.chain.head
}

// isAct reports whether a point wraps an act. Acts are not recorded.
func isAct(point string) bool { return point == "AroundLLM" || point == "AroundTool" }

// wants reports whether a fire is recorded.
func (a *Audit) wants(fired hookkit.AnyFired) bool {
	if isAct(fired.Point) {
		return false
	}
	points := a.Points
	if points == nil {
		points = auditPoints
	}
	if slices.Contains(points, fired.Point) || slices.Contains(points, AllPoints) {
		return true
	}
	switch fired.Point {
	case "OnPermissionGranted", "OnPermissionDenied", "OnToolsDisabled", "OnRunError": // not decided by hooks alone
		return true
	}
	return fired.Decision != "" || fired.Collected != nil || fired.Err != nil ||
		len(fired.Failures) > 0 || len(fired.Ballots) > 0
}
