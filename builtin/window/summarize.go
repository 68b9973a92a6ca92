package window

import (
	"cmp"
	"context"
	_ "embed" // for the instructions
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Summarize is a compactor that replaces all but the last turns by a summary.
//
// A turn is an assistant message with the results of its calls, or one other message; a call is never separated from
// its results. The leading system messages, the last Keep turns and the newest user message stay. The turns between
// become one system message, "(summary of earlier conversation)", which also replaces an earlier summary.
//
// The summary comes from one call to Model, by default the run's, which counts towards the run. It is asked for the
// goal, findings, open questions, decisions and exact identifiers. Without a model, or if the model fails or returns no
// text, the summary lists the messages instead. It then holds the earlier summary and, for the last 20 messages, the
// role and the first 80 characters.
//
// Compact returns the conversation unchanged if it is smaller than Trigger or has fewer than Keep + 2 turns. If the
// model has refused the conversation as too long, it is summarized whatever its size. Compact returns an error if the
// context is done or a bound is negative.
//
// Summarize is used by pointer and is safe for concurrent use; do not change its fields during use.
type Summarize struct {
	Model         agent.Model      // writes the summaries; nil: the model of the run
	Prompt        string           // instructions to that model; "": those of this package
	Trigger       limit.Bound[int] // tokens; a smaller conversation is not compacted; default 20,000
	Keep          limit.Bound[int] // turns; default 4. The newest user message stays even if Keep is limit.AtMost(0)
	MaxSummary    limit.Bound[int] // tokens of the summary, 1 to 1,048,576; default 2000
	MaxInput      limit.Bound[int] // characters of the conversation that the model is shown; default 400,000
	PreserveCalls bool             // append the last 40 calls: 60 characters of arguments, 120 of the result

	OnError func(error) // receives failures of the model; nil: they are logged

	failed kit.Reporter
}

// Compact implements agent.Compactor.
func (s *Summarize) Compact(ctx context.Context, env *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := s.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("Summarize: %w", err)
	}
	if ctx.Err() != nil {
		return agent.Compacted{}, context.Cause(ctx)
	}
	keep := s.Keep.Or(4)
	p := planFor(c.Messages, lastTurns(keep))
	if c.Reason != agent.CompactTooLong && (p.turns-2 < keep || env.CountTokens(c.Messages) < s.trigger()) {
		return unchanged(c), nil
	}
	return s.compact(ctx, env, c, p, func(err error) { s.failed.Report("window.Summarize", s.OnError, err) })
}

// maxSummary is the default of MaxSummary, in tokens.
const maxSummary = 2000

func (s *Summarize) trigger() int { return s.Trigger.Or(20_000) }

func (s *Summarize) check() error {
	return errors.Join(s.Trigger.Check("Trigger"), s.Keep.Check("Keep"), checkSummary(s.MaxSummary),
		s.MaxInput.Check("MaxInput"))
}

func checkSummary(tokens limit.Bound[int]) error {
	if n := tokens.Or(maxSummary); n < 1 || n > 1<<20 {
		return fmt.Errorf("MaxSummary is %v; give a number of tokens from 1 to %d", tokens, 1<<20)
	}
	return nil
}

// compact replaces the middle of a plan by a summary.
func (s *Summarize) compact(
	ctx context.Context, env *agent.Env, c agent.Compaction, p plan, report func(error),
) (agent.Compacted, error) {
	if len(p.middle) == 0 {
		return unchanged(c), nil
	}
	text, asked, err := s.ask(ctx, env, p)
	if ctx.Err() != nil {
		return agent.Compacted{}, context.Cause(ctx)
	}
	if err != nil {
		report(fmt.Errorf("the model could not summarize %d messages, each is listed instead: %w", len(p.middle), err))
	}
	if text == "" {
		text = strings.Trim(shorten.To(p.earlier, s.MaxSummary.Or(maxSummary)*4)+"\n"+messageLines(p.middle), "\n")
	}
	if trace := callTrace(p.middle); s.PreserveCalls && trace != "" {
		text += "\n\n" + trace
	}
	return agent.Compacted{Messages: p.compacted(text), Summary: text, StepRange: p.steps(), ModelCalls: asked}, nil
}

//go:embed summarize.txt
var summarizeInstructions string

// ask asks the model for a summary. It returns the summary and the number of model calls; without a model, both are
// zero.
func (s *Summarize) ask(ctx context.Context, env *agent.Env, p plan) (text string, calls int, err error) {
	model, most, input := s.Model, s.MaxSummary.Or(maxSummary), s.MaxInput.Or(400_000)
	if model == nil && env != nil {
		model = env.Model
	}
	if model == nil {
		return "", 0, nil
	}
	temperature := 0.3
	material := transcript(p.middle, input)
	if p.earlier != "" {
		material = "The summary so far:\n" + shorten.Middle(p.earlier, input) + "\n\nWhat came after it:\n\n" + material
	}
	reply, err := model.Generate(ctx, agent.LLMRequest{
		Messages: []agent.Message{
			{Role: agent.RoleSystem, Content: cmp.Or(s.Prompt, fmt.Sprintf(summarizeInstructions, most))},
			{Role: agent.RoleUser, Content: material},
		},
		MaxTokens: most, Temperature: &temperature,
	})
	if err == nil && strings.TrimSpace(reply.Content) == "" {
		err = errors.New("the reply is empty")
	}
	if err != nil {
		return "", 1, err
	}
	return shorten.To(strings.TrimSpace(reply.Content), most*6), 1, nil // in case the model ignores its limit
}
