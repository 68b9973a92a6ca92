package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
)

// An Emitter receives an event. It is called by one goroutine at a time.
type Emitter func(context.Context, StreamEvent) error

// StreamEvent is one event of a run. As JSON it is a flat object with event_type, timestamp, run, tenant, user,
// conversation, agent and the keys of Data.
type StreamEvent struct {
	Type string
	Time time.Time
	Run  string
	agent.Identity
	Agent string
	Data  map[string]any
}

// MarshalJSON encodes the event as a flat object.
func (e StreamEvent) MarshalJSON() ([]byte, error) {
	flat := map[string]any{}
	for k, v := range e.Data {
		flat[k] = v
	}
	for k, v := range map[string]string{"tenant": e.Tenant, "user": e.User, "conversation": e.Conversation} {
		if v != "" {
			flat[k] = v
		}
	}
	flat["event_type"], flat["timestamp"], flat["run"], flat["agent"] = e.Type, e.Time.UTC(), e.Run, e.Agent
	return json.Marshal(flat)
}

// The types of events, with the keys of their Data.
const (
	StreamLoopStart = "loop_start" // task_summary, max_steps
	StreamStepStart = "step_start" // step_num
	StreamLLMStart  = "llm_start"  // step_num, prompt_tokens_est
	StreamLLMChunk  = "llm_chunk"  // step_num, chunk, chunk_index
	// step_num, response_length, duration_ms; error if the call failed.
	StreamLLMEnd       = "llm_end"
	StreamToolDispatch = "tool_dispatch" // step_num, tool_name, call_id, args_summary
	// step_num, tool_name, call_id, duration_ms, has_error. It comes when the call returns, while other calls of the
	// reply may be running. If a hook of AfterTool rejects the result later, a hook event follows.
	StreamToolResult      = "tool_result"
	StreamStepEnd         = "step_end"         // step_num, classification, new_entities_count
	StreamLoopEnd         = "loop_end"         // total_steps, total_llm_calls, reason
	StreamHook            = "hook"             // hook_name, method, message
	StreamRecovery        = "recovery"         // strategy, success
	StreamContextPressure = "context_pressure" // level, estimated_tokens, threshold, context_window, percent_used
)

// Emitters returns an emitter that calls all emitters in order, even if one fails. It returns all their errors.
func Emitters(all ...Emitter) Emitter {
	return func(ctx context.Context, e StreamEvent) error {
		var errs []error
		for _, emit := range all {
			_, err := kit.Recover(func() (struct{}, error) { return struct{}{}, emit(ctx, e) })
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}
}

// ChannelEmitter returns an emitter that sends to a buffered channel. If the buffer is full, the emitter returns an
// error instead of waiting, so that a reader that has stopped cannot block the other events.
func ChannelEmitter(to chan<- StreamEvent) Emitter {
	return func(_ context.Context, e StreamEvent) error {
		select {
		case to <- e:
			return nil
		default:
			return fmt.Errorf("the channel has no room for %s; read it faster, or give it a larger buffer", e.Type)
		}
	}
}
