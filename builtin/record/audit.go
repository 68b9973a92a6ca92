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

// An Audit writes down what a run did and every decision about it: who took it and why.
//
// It is one observer of all points, at tier Observability. What it writes is a file of JSON lines, one
// [AuditRecord] each, in which every line holds the hash of the line before: [VerifyAudit] finds what was changed,
// removed or inserted later, [ReadAudit] reads the records, [ReplayAudit] replays the events of a run.
//
// A fire of one of Points is written down in any case. A fire of any other point is written down when something
// was decided at it: when a hook decided, voted, contributed or failed, when the model failed, and when a call was
// denied or tools were off. A prompt's texts (Briefing) are contributions, too. Only Path is required.
//
// Secrets and personal data are taken out first, then texts are cut, then the line is encoded, so that every line
// is valid JSON. Arguments and payloads that are very large are recorded by their beginning. A call that was
// refused, skipped or failed is never recorded as a success, and its record says who answered it in the tool's
// place and why; one that a person permitted says so.
//
// The file is opened for each line, appended to in one write, and never changed: it may be moved away at any time,
// and a new one then begins where it ended. Missing directories are made; the file is readable by its owner alone. A
// line that cannot be written is reported and counted; the next record says how many are missing. A line that a
// crash left unfinished is kept, and the record after it vouches for it. Nothing ever stops the run, and nothing
// goes to standard output.
//
// One Audit serves any number of runs and Hooks at once, and writes one line per fire however often it is
// used. Several on one file each write their own lines, in one chain; so may several processes if they do not
// write at the same moment.
type Audit struct {
	Path   string
	Points []string // written down in any case; nil: AfterLLM, AfterTool, OnRunEnd, BeforeTool, OnToolError; empty: none; [AllPoints]
	// MaxValue bounds each text of a record in characters. The default is 200.
	MaxValue limit.Bound[int]
	Redact   redact.Redactor
	Key      []byte      // not empty: the hashes are keyed, so that only who has it can make a chain anew
	Sync     bool        // each line is on the disk before the run goes on
	OnError  func(error) // gets what could not be written; nil: it is logged by slog. It must be safe for concurrent use

	once   kit.OnceObserver
	asked  hookkit.PerRun[map[string]string] // calls that a person was asked about: which hook wanted it
	direct kit.Binding                       // of those who call Observe themselves
	chain  auditChain

	failed kit.Reporter

	mu   sync.Mutex
	lost int // records since the last that was written
	ever uint64
}

// AllPoints in Audit.Points stands for every point.
const AllPoints = "*"

const auditValue = 200

var auditPoints = []string{"AfterLLM", "AfterTool", "OnRunEnd", "BeforeTool", "OnToolError"}

// Bind adds the observer.
func (a *Audit) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Audit", a.check(h))
	h.ObserveAny(&auditBinding{log: a}, hookkit.Named("record.Audit"))
}

func (a *Audit) check(h *agent.Hooks) error {
	var errs []error
	if err := a.MaxValue.Check("MaxValue"); err != nil {
		errs = append(errs, err)
	}
	if a.Path == "" {
		errs = append(errs, errors.New("Path is empty; name the file to write to"))
	}
	known := []string{AllPoints}
	for _, p := range h.Points() {
		known = append(known, p.Name)
	}
	for _, p := range a.Points {
		if !slices.Contains(known, p) {
			errs = append(errs, fmt.Errorf("Points names %q, which is no point; use some of %s", p, strings.Join(known, ", ")))
		}
	}
	return errors.Join(errs...)
}

// Observe writes down one fire. It is for those who register the Audit by ObserveAny and its options.
func (a *Audit) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) {
	a.observe(&a.direct, run, fired)
}

type auditBinding struct {
	log *Audit
	as  kit.Binding
}

// Observe is told of every fire.
func (b *auditBinding) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) {
	b.log.observe(&b.as, run, fired)
}

func (a *Audit) observe(as *kit.Binding, run *agent.Run, fired hookkit.AnyFired) {
	if !a.once.First(run, as, fired.Point, fired.Verdict) {
		return
	}
	approved := a.approval(run, fired)
	if !a.wants(fired) {
		return
	}
	record := a.record(run, fired)
	record.Approved = approved
	a.mu.Lock()
	defer a.mu.Unlock()
	record.Lost = a.lost
	if err := a.chain.append(a.Path, a.Key, a.Sync, record); err != nil {
		a.lost++
		a.ever++
		a.failed.Report("record.Audit", a.OnError, fmt.Errorf("audit log %s: a record of %s is lost, %d so far: %w", a.Path, fired.Point, a.ever, err))
		return
	}
	a.lost = 0
}

// approval returns, at AfterTool, the hook on whose question a person permitted the call, "" if nobody was asked.
// There is no point for a yes: it is a question that no denial followed.
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
		if _, ok := fired.Outcome.(agent.Ask); ok {
			change(func(asked map[string]string) { asked[p.ID] = fired.By })
		}
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

// wants reports whether a fire is written down.
func (a *Audit) wants(fired hookkit.AnyFired) bool {
	points := a.Points
	if points == nil {
		points = auditPoints
	}
	if slices.Contains(points, fired.Point) || slices.Contains(points, AllPoints) {
		return true
	}
	switch fired.Point {
	case "OnPermissionDenied", "OnToolsDisabled": // decided by the loop, a person or a switch
		return true
	case "AroundTool": // a failed attempt is OnToolError's, the result AfterTool's
		fired.Err = nil
	}
	return fired.Decision != "" || fired.Collected != nil || fired.Err != nil ||
		len(fired.Failures) > 0 || len(fired.Ballots) > 0
}
