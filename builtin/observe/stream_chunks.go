package observe

import (
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
)

// chunks is the state of the chunks of a run.
type chunks struct {
	unsubscribe   func()
	text          *redact.Stream // of the current reply; nil: there is none
	step, attempt int            // of the current reply
	index         int            // of the next event
}

// subscribe sends the chunks of replies as events.
func (s *Stream) subscribe(run *agent.Run) {
	if env := kit.Env(run); env != nil && env.Subscribe != nil {
		end := env.Subscribe(func(c agent.Chunk) {
			if c.Delta.Content != "" {
				s.chunk(run, c)
			}
		})
		s.chunks.Do(run, func(c *chunks) { c.unsubscribe = end })
	}
}

// chunk sends a chunk, or with Redact the part of the reply that is certain.
func (s *Stream) chunk(run *agent.Run, c agent.Chunk) {
	text, index := c.Delta.Content, c.Index
	if s.Redact != nil {
		s.chunks.Do(run, func(state *chunks) {
			if state.text == nil || state.step != c.Step || state.attempt != c.Attempt {
				*state = chunks{unsubscribe: state.unsubscribe, text: s.Redact.Stream(), step: c.Step, attempt: c.Attempt}
			}
			text, index = state.text.Add(text), state.index
			if text != "" {
				state.index++
			}
		})
	}
	if text != "" {
		s.sendChunk(run, c.Step, index, text)
	}
}

// endChunks sends the rest of a redacted reply.
func (s *Stream) endChunks(run *agent.Run) {
	var rest chunks
	text := ""
	s.chunks.Do(run, func(state *chunks) {
		if rest = *state; rest.text != nil {
			text, state.text = rest.text.End(), nil
		}
	})
	if text != "" {
		s.sendChunk(run, rest.step, rest.index, text)
	}
}

func (s *Stream) sendChunk(run *agent.Run, step, index int, text string) {
	s.send(run, StreamLLMChunk, map[string]any{"step_num": step, "chunk": text, "chunk_index": index})
}
