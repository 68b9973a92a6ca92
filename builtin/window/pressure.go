package window

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/generated/agent"
)

// A PressureLevel says how close a conversation is to filling the context window. [Guard] and [Auto] report it.
type PressureLevel string

// The levels, lowest first.
const (
	PressureOK      PressureLevel = "ok"
	PressureWarning PressureLevel = "warning"
	PressureCompact PressureLevel = "compact"
	PressureBlock   PressureLevel = "block"
)

func (l PressureLevel) rank() int {
	return slices.Index([]PressureLevel{PressureOK, PressureWarning, PressureCompact, PressureBlock}, l)
}

// Pressure says how full the context window is. It counts the system prompt, tools, briefing and stored conversation,
// as estimated by the loop.
//
// A level begins when fewer tokens than its buffer are left. For example, in a window of 128,000 tokens PressureWarning
// begins at 98,000. If the window is smaller than twice WarnBuffer, all buffers are scaled down in proportion.
type Pressure struct {
	Level           PressureLevel `json:"level"`
	EstimatedTokens int           `json:"estimated_tokens"`
	Threshold       int           `json:"threshold"` // tokens at which the level begins; 0 for PressureOK
	ContextWindow   int           `json:"context_window"`
	PercentUsed     float64       `json:"percent_used"`
}

// thresholds are the tokens at which the levels begin.
type thresholds struct{ window, warn, compact, block int }

// level returns the level of an estimate, and where the level begins.
func (t thresholds) level(tokens int) (level PressureLevel, from int) {
	switch {
	case tokens >= t.block:
		return PressureBlock, t.block
	case tokens >= t.compact:
		return PressureCompact, t.compact
	case tokens >= t.warn:
		return PressureWarning, t.warn
	}
	return PressureOK, 0
}

type buffers struct{ warn, compact, block int }

func (w *Guard) buffers() buffers {
	return buffers{cmp.Or(w.WarnBuffer, 30_000), cmp.Or(w.CompactBuffer, 20_000), cmp.Or(w.BlockBuffer, 5_000)}
}

// pressure returns the pressure of an estimate on a window, both in tokens.
func (w *Guard) pressure(tokens, window int) Pressure {
	b := w.buffers()
	if half := window / 2; b.warn > half {
		scaled := func(n int) int { return int(int64(n) * int64(half) / int64(b.warn)) }
		b = buffers{half, scaled(b.compact), scaled(b.block)}
	}
	level, from := thresholds{window, window - b.warn, window - b.compact, window - b.block}.level(tokens)
	return Pressure{Level: level, EstimatedTokens: tokens, Threshold: from, ContextWindow: window,
		PercentUsed: 100 * float64(tokens) / float64(window)}
}

// ShouldCompact determines the level of pressure and reports a changed level.
func (w *Guard) ShouldCompact(
	ctx context.Context, run *agent.Run, use agent.ContextUse,
) (agent.ShouldCompactOutcome, error) {
	window := use.Window
	if window <= 0 {
		window = unknownWindow
	}
	p, changed := w.pressure(use.Tokens, window), false
	w.runs.Do(run, func(s *windowState) {
		s.window = window
		changed = s.level != p.Level
		s.level = p.Level
		s.full = ""
		if p.Level == PressureBlock {
			s.full = fullNote(p)
		}
	})
	if changed && w.OnPressure != nil {
		w.OnPressure(ctx, run, p)
	}
	return nil, nil
}

// ObserveBeforeCompact records the names that the model knows.
func (w *Guard) ObserveBeforeCompact(
	_ context.Context, run *agent.Run, fired agent.BeforeCompactFired[agent.Compaction],
) {
	known := argumentNames(fired.Payload.Messages)
	w.runs.Do(run, func(s *windowState) { s.known = known })
}

// ObserveAfterCompact records the names that an effective compaction has hidden.
func (w *Guard) ObserveAfterCompact(_ context.Context, run *agent.Run, fired agent.AfterCompactFired[agent.Compacted]) {
	done := fired.Payload
	effective := done.Err == "" && done.Effective()
	var known []string
	w.runs.Do(run, func(s *windowState) {
		known, s.known = s.known, nil
		if effective {
			s.full = ""
		}
	})
	if !effective {
		return
	}
	if note := hiddenNote(known, fired.Final.Messages); note != "" {
		w.runs.Do(run, func(s *windowState) { s.notes.Put(fingerprint.Of([]byte(note)), note) })
	}
}

// Briefing lists the names that a compaction has hidden. While the level is PressureBlock, it also asks the model to
// finish.
func (w *Guard) Briefing(_ context.Context, run *agent.Run, step agent.Step) ([]string, error) {
	var texts []string
	w.runs.Do(run, func(s *windowState) {
		texts = slices.Clone(s.notes.Take(step.Number))
		if s.full != "" {
			texts = append(texts, s.full)
		}
	})
	return texts, nil
}

// fullNote returns the note for the model in a nearly full context window.
func fullNote(p Pressure) string {
	return fmt.Sprintf("[context window nearly full] The conversation takes about %d of %d tokens (%.0f %%). Earlier "+
		"results may be missing from this prompt. Answer now with what you have, and start nothing new.",
		p.EstimatedTokens, p.ContextWindow, p.PercentUsed)
}
