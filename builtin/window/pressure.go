package window

import "slices"

// A PressureLevel says how close a conversation is to filling the context window. [Auto] reports it.
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

// Pressure says how full the context window is before a prompt. It counts the system prompt, tools, briefing and stored
// conversation, as estimated by the loop.
type Pressure struct {
	Step            int           `json:"step"`
	Level           PressureLevel `json:"level"`
	EstimatedTokens int           `json:"estimated_tokens"`
	Threshold       int           `json:"threshold"` // tokens at which the level begins; 0 for PressureOK
	ContextWindow   int           `json:"context_window"`
	PercentUsed     float64       `json:"percent_used"`
}

// thresholds are the tokens at which the levels begin.
type thresholds struct{ window, warn, compact, block int }

// pressure returns the pressure of an estimate before the prompt of a step.
func (t thresholds) pressure(step, tokens int) Pressure {
	p := Pressure{Step: step, Level: PressureOK, EstimatedTokens: tokens, ContextWindow: t.window,
		PercentUsed: 100 * float64(tokens) / float64(t.window)}
	switch {
	case tokens >= t.block:
		p.Level, p.Threshold = PressureBlock, t.block
	case tokens >= t.compact:
		p.Level, p.Threshold = PressureCompact, t.compact
	case tokens >= t.warn:
		p.Level, p.Threshold = PressureWarning, t.warn
	}
	return p
}
