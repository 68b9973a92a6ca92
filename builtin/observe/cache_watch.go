package observe

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"hash"
	"hash/fnv"
	"log/slog"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// CacheWatch reports requests that do not continue the request before, because providers charge less for a repeated
// beginning.
//
// For example, a hook puts the current time into the system prompt. Each request then begins differently, and a run
// costs several times as much. CacheWatch logs "prompt cache broken" with the step and the section that changed.
//
// It compares four sections of two successive requests of a run: the model, the tools, the system prompt, and the
// conversation, which may only grow. The texts of Briefing come last and may change. A compaction is a break too, and
// should be rare.
//
// CacheWatch observes BeforeLLM after all other observers. It keeps hashes and the last 100 breaks for each run. The
// zero value is ready to use, and it is safe for concurrent use.
type CacheWatch struct {
	Log     *slog.Logger                                                // nil: slog.Default()
	OnBreak func(ctx context.Context, run *agent.Run, found CacheBreak) // replaces the log; must be fast

	runs hookkit.PerRun[cacheState]
}

// A CacheBreak is a change of a section of the requests of a run.
type CacheBreak struct {
	Step     int    // of the request that differs from the one before
	Section  string // model, tools, system or conversation
	Old, New string // hashes of the section, 16 hexadecimal digits
}

// maxBreaks bounds the breaks of a run that are listed.
const maxBreaks = 100

// cacheState is the state of one run.
type cacheState struct {
	begun     bool
	sections  []section // of the last request, without the conversation
	messages  int       // of the conversation in the last request
	whole     string    // hash of that conversation
	allBreaks []CacheBreak
}

type section struct{ name, hash string }

// Bind adds the observer.
func (w *CacheWatch) Bind(h *agent.Hooks) {
	h.BeforeLLM.Observe(w, hookkit.Priority(kit.LastPriority))
}

// Breaks returns the last 100 breaks of a run, oldest first. The caller owns the slice.
func (w *CacheWatch) Breaks(run *agent.Run) []CacheBreak {
	return slices.Clone(w.runs.Load(run).allBreaks)
}

// ObserveBeforeLLM compares a request with the one before.
func (w *CacheWatch) ObserveBeforeLLM(
	ctx context.Context, run *agent.Run, fired agent.BeforeLLMFired[agent.LLMRequest],
) {
	if fired.Exit != nil || fired.Err != nil {
		return
	}
	var found []CacheBreak
	w.runs.Do(run, func(s *cacheState) {
		found = s.compare(fired.Final)
		s.allBreaks = append(s.allBreaks, found...)
		if over := len(s.allBreaks) - maxBreaks; over > 0 {
			s.allBreaks = slices.Delete(s.allBreaks, 0, over)
		}
	})
	for _, b := range found {
		w.report(ctx, run, b)
	}
}

func (w *CacheWatch) report(ctx context.Context, run *agent.Run, b CacheBreak) {
	if w.OnBreak != nil {
		w.OnBreak(ctx, run, b)
		return
	}
	cmp.Or(w.Log, slog.Default()).WarnContext(ctx, "prompt cache broken", "run", run.ID(),
		kit.OwnerAttr(kit.Owner(run)), "step", b.Step, "section", b.Section, "old", b.Old, "new", b.New)
}

// compare returns the differences to the last request, and replaces it.
func (s *cacheState) compare(req agent.LLMRequest) (found []CacheBreak) {
	messages := req.Messages
	if n := len(messages); n > 0 && messages[n-1].Name == agent.BriefingName {
		messages = messages[:n-1]
	}
	head := slices.IndexFunc(messages, func(m agent.Message) bool { return m.Role != agent.RoleSystem })
	if head < 0 {
		head = len(messages)
	}
	system, conversation := messages[:head], messages[head:]
	sections := []section{{"model", hashOf(req.Model)}, {"tools", hashOf(req.Tools)}, {"system", hashOf(system)}}
	if s.begun {
		for i, now := range sections {
			if before := s.sections[i]; before.hash != now.hash {
				found = append(found, CacheBreak{req.Step, now.name, before.hash, now.hash})
			}
		}
	}
	// The hash after as many messages as the last request had equals its hash if the conversation has only grown.
	sum := fnv.New64a()
	same := min(s.messages, len(conversation))
	for _, m := range conversation[:same] {
		addTo(sum, m)
	}
	beginning := digest(sum)
	if s.begun && (beginning != s.whole || same < s.messages) {
		found = append(found, CacheBreak{req.Step, "conversation", s.whole, beginning})
	}
	for _, m := range conversation[same:] {
		addTo(sum, m)
	}
	s.begun, s.sections, s.messages, s.whole = true, sections, len(conversation), digest(sum)
	return found
}

func addTo(sum hash.Hash, value any) {
	data, _ := json.Marshal(value) // of payloads, which can always be encoded
	sum.Write(append(data, '\n'))
}

func digest(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

func hashOf(value any) string {
	sum := fnv.New64a()
	addTo(sum, value)
	return digest(sum)
}
