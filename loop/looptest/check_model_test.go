package looptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// silent is a script that does not answer after its last turn.
type silent struct{ *Script }

func (s silent) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return s.wait(ctx, func() (agent.LLMResponse, error) { return s.Script.Generate(ctx, req) })
}

func (s silent) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	return s.wait(ctx, func() (agent.LLMResponse, error) { return s.Script.Stream(ctx, req, emit) })
}

func (silent) wait(ctx context.Context, play func() (agent.LLMResponse, error)) (agent.LLMResponse, error) {
	reply, err := play()
	if errors.Is(err, ErrExhausted) {
		<-ctx.Done()
		return agent.LLMResponse{}, ctx.Err()
	}
	return reply, err
}

func scripted(_ testing.TB, replies ...agent.LLMResponse) agent.Model {
	script := NewScript()
	for _, r := range replies {
		script.Add(Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { return r.Clone(), nil }))
	}
	return silent{script}
}

func TestCheckModelPassesAScript(t *testing.T) { CheckModel(t, scripted) }

// unstreamed is a model without Stream.
type unstreamed struct{ agent.Model }

func TestCheckModelPassesAModelWithoutStreams(t *testing.T) {
	CheckModel(t, func(t testing.TB, replies ...agent.LLMResponse) agent.Model {
		return unstreamed{scripted(t, replies...)}
	})
}

// A faulty model has the streams and replies of another model, with one fault.
type faulty struct {
	agent.StreamingModel
	before func(context.Context, agent.LLMRequest) (context.Context, error)
	reply  func(*agent.LLMResponse, error) error
	piece  func(agent.Delta) []agent.Delta
	late   bool // the next call after Stream emits a piece once more
	window int

	again *atomic.Pointer[func(agent.Delta)] // emit of the last Stream
}

func (f *faulty) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	if emit := f.again.Load(); f.late && emit != nil {
		(*emit)(agent.Delta{Content: "late"})
	}
	return f.send(ctx, req, func(ctx context.Context) (agent.LLMResponse, error) {
		return f.StreamingModel.Generate(ctx, req)
	})
}

func (f *faulty) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	reply, err := f.send(ctx, req, func(ctx context.Context) (agent.LLMResponse, error) {
		return f.StreamingModel.Stream(ctx, req, func(d agent.Delta) {
			if f.piece == nil {
				emit(d)
				return
			}
			for _, d := range f.piece(d) {
				emit(d)
			}
		})
	})
	f.again.Store(&emit)
	return reply, err
}

func (f *faulty) ContextWindow() int { return f.window }

func (f *faulty) send(
	ctx context.Context, req agent.LLMRequest, play func(context.Context) (agent.LLMResponse, error),
) (agent.LLMResponse, error) {
	if f.before != nil {
		var err error
		if ctx, err = f.before(ctx, req); err != nil {
			return agent.LLMResponse{}, err
		}
	}
	reply, err := play(ctx)
	if f.reply != nil {
		err = f.reply(&reply, err)
	}
	return reply, err
}

// changed is a faulty model whose replies are changed by f.
func changed(f func(*agent.LLMResponse)) faulty {
	return faulty{reply: func(reply *agent.LLMResponse, err error) error {
		if err == nil {
			f(reply)
		}
		return err
	}}
}

// problems collects the errors of a check. It is safe for concurrent use.
type problems struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (p *problems) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.texts = append(p.texts, fmt.Sprintf(format, args...))
}

func (p *problems) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.texts, "\n")
}

func TestCheckModelFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		check string
		model faulty
		want  string
	}{
		"a call is lost": {"replies", changed(func(r *agent.LLMResponse) {
			r.ToolCalls = r.ToolCalls[:min(1, len(r.ToolCalls))]
		}), "the number of calls is 1, want 3"},
		"calls in another order": {"replies", changed(func(r *agent.LLMResponse) { slices.Reverse(r.ToolCalls) }),
			"ToolCalls[0].ID is call_c, want call_a"},
		"ids are lost": {"replies", changed(func(r *agent.LLMResponse) {
			for i := range r.ToolCalls {
				r.ToolCalls[i].ID = ""
			}
		}), "ToolCalls[0].ID is , want call_a"},
		"arguments are cut": {"replies", changed(func(r *agent.LLMResponse) {
			for i := range r.ToolCalls {
				r.ToolCalls[i].Args = []byte("{}")
			}
		}), `ToolCalls[0].Args is {}, want {"at"`},
		"usage is lost": {"replies", changed(func(r *agent.LLMResponse) { r.Usage = agent.Usage{} }),
			"Usage.Input is 0, want 120"},
		"text is trimmed": {"replies", changed(func(r *agent.LLMResponse) { r.Content = strings.TrimSpace(r.Content) }),
			"Content is"},
		"other reasons": {"replies", changed(func(r *agent.LLMResponse) { r.FinishReason = "end_turn" }),
			"FinishReason is end_turn"},
		"other reasoning": {"replies", changed(func(r *agent.LLMResponse) { r.Reasoning += "x" }), "Reasoning is"},
		"every call fails": {"replies", faulty{before: func(
			ctx context.Context, _ agent.LLMRequest,
		) (context.Context, error) {
			return ctx, errors.New("no such host")
		}}, "parallel calls: no such host"},
		"no pieces": {"streamed replies", faulty{piece: func(agent.Delta) []agent.Delta { return nil }},
			`the pieces of the text are ""`},
		"pieces repeated": {"streamed replies", faulty{piece: func(d agent.Delta) []agent.Delta {
			return []agent.Delta{d, d}
		}}, "the pieces of the calls are"},
		"pieces too late": {"streamed replies", faulty{late: true}, "emit was called after Stream had returned"},
		"wrong index": {"streamed replies", faulty{piece: func(d agent.Delta) []agent.Delta {
			if d.ToolCall != nil {
				d.ToolCall.Index++
			}
			return []agent.Delta{d}
		}}, "count the calls from 0"},
		"the request is changed": {"requests stay unchanged", faulty{before: func(
			ctx context.Context, req agent.LLMRequest,
		) (context.Context, error) {
			req.Messages[0].Content += "!"
			return ctx, nil
		}}, "the request was changed"},
		"the error is lost": {"cancelled before", faulty{reply: func(_ *agent.LLMResponse, err error) error {
			return errors.New("failed")
		}}, "Stream with a cancelled context returned failed"},
		"a cancelled call succeeds": {"cancelled while waiting", succeeds, "after its context was cancelled"},
		"a late call succeeds":      {"deadline while waiting", succeeds, "after its deadline"},
		"a part is returned": {"cancelled while streaming", faulty{reply: func(r *agent.LLMResponse, _ error) error {
			r.Content = "A"
			return nil
		}}, "return an error instead of a part"},
		"replies are shared": {"concurrent use", changed(func(r *agent.LLMResponse) { r.Content = "reply 0" }),
			"concurrent use: got the replies"},
		"negative window": {"window", faulty{window: -1}, "the context window is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			found := &problems{TB: t}
			for _, check := range modelChecks {
				if check.name != c.check {
					continue
				}
				check.run(found, func(t testing.TB, replies ...agent.LLMResponse) agent.Model {
					model := c.model
					model.again = new(atomic.Pointer[func(agent.Delta)])
					model.StreamingModel = scripted(t, replies...).(agent.StreamingModel)
					return &model
				})
			}
			if text := found.all(); !strings.Contains(text, c.want) {
				t.Errorf("found %q, want %q", text, c.want)
			}
		})
	}
}

var succeeds = faulty{reply: func(*agent.LLMResponse, error) error { return nil }}
