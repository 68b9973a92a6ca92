package record

import (
	"errors"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
)

// Provenance records complete runs: model calls and steps, in one directory for each run.
//
// For example, Provenance{Dir: "runs"} lets you reproduce a failed run with [Replay]. It combines a [Model] and a
// [Trajectory] that write to the same directory; see there for the fields, the points and the files. Provenance is safe
// for concurrent use and must not be copied. Bind panics on an empty Dir and on a negative bound.
type Provenance struct {
	Dir          string           // required
	OneRun       bool             // Dir is the directory of the only run
	MaxChars     limit.Bound[int] // characters of each text; default 200,000
	Redact       redact.Redactor
	SendRedacted SendRedacted
	NoContext    bool         // see Trajectory.NoContext
	Snapshot     bool         // see Trajectory.Snapshot
	Hooks        *agent.Hooks // hooks to list in the snapshot; nil: no list
	OnError      func(error)  // receives write failures; nil: they are logged

	once       sync.Once
	recorder   *Model
	trajectory *Trajectory
}

// Bind adds the hooks of both.
func (p *Provenance) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Provenance", p.MaxChars.Check("MaxChars"))
	if p.Dir == "" {
		kit.MustConfig("record.Provenance", errors.New("Dir is empty; name the directory to write to"))
	}
	p.setUp()
	p.recorder.Bind(h)
	p.trajectory.Bind(h)
}

func (p *Provenance) setUp() {
	p.once.Do(func() {
		p.recorder = &Model{
			Dir: p.Dir, OneRun: p.OneRun, MaxChars: p.MaxChars, Redact: p.Redact,
			SendRedacted: p.SendRedacted, OnError: p.OnError,
		}
		p.trajectory = &Trajectory{
			Dir: p.Dir, OneRun: p.OneRun, MaxChars: p.MaxChars, Redact: p.Redact, NoContext: p.NoContext,
			Recorder: p.recorder, Snapshot: p.Snapshot, Hooks: p.Hooks, OnError: p.OnError,
		}
	})
}

// Wrap returns a model that also records calls made by hooks and tools. See [Model.Wrap].
func (p *Provenance) Wrap(model agent.Model) agent.Model {
	p.setUp()
	return p.recorder.Wrap(model)
}

// SetMetadata adds a value to the metadata of a run. See [Trajectory.SetMetadata].
func (p *Provenance) SetMetadata(run *agent.Run, key string, value any) {
	p.setUp()
	p.trajectory.SetMetadata(run, key, value)
}

// RunDir returns the directory of a run.
func (p *Provenance) RunDir(run *agent.Run) string { return runDir(p.Dir, p.OneRun, liveEvent(run)) }
