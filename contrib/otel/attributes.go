package otel

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// attributes are those of a span, an event or a metric. All of them come from the payloads of the points.
type attributes []attribute.KeyValue

// name returns a short, redacted name.
func (t *Telemetry) name(s string) string { return cut(&t.Redact, s, nameChars) }

// named appends attributes with names, from pairs of keys and names. Empty names are left out.
func (t *Telemetry) named(a attributes, pairs ...string) attributes {
	return a.texts(t.name, pairs...)
}

func (a attributes) texts(clean func(string) string, pairs ...string) attributes {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			a = append(a, attribute.String(pairs[i], clean(pairs[i+1])))
		}
	}
	return a
}

// number appends a count, unless it is 0.
func (a attributes) number(key string, n int) attributes {
	if n > 0 {
		a = append(a, attribute.Int(key, n))
	}
	return a
}

// usage appends counts of tokens.
func (a attributes) usage(u agent.Usage) attributes {
	return a.number(inputTokens, u.Input).number(outputTokens, u.Output).
		number(cacheReadTokens, u.CacheRead).number(cacheWritten, u.CacheWrite)
}

// spanned returns the attributes that every span of a run has.
func (t *Telemetry) spanned(operation string, run *agent.Run) attributes {
	a := t.named(attributes{attribute.String(operationName, operation)}, providerName, t.Provider)
	if run == nil {
		return a
	}
	a = t.named(a, runID, run.ID())
	if run.Env == nil {
		return a
	}
	owner := run.Env.Identity()
	if !owner.Named() {
		owner.Conversation = ""
	}
	return t.named(a, conversation, owner.Conversation, userID, owner.User, tenant, owner.Tenant)
}

// request returns the attributes of a request to the model.
func (t *Telemetry) request(run *agent.Run, req agent.LLMRequest) attributes {
	a := t.named(t.spanned(chat, run), requestModel, req.Model).
		number(step, req.Step).number(requestMaxTokens, req.MaxTokens)
	if req.Temperature != nil {
		a = append(a, attribute.Float64(requestTemperature, *req.Temperature))
	}
	switch f := req.ResponseFormat; {
	case f == nil:
	case f.Type == "text":
		a = append(a, attribute.String(outputType, "text"))
	default:
		a = append(a, attribute.String(outputType, "json"))
	}
	return a
}

// reply returns the attributes of a reply of the model.
func (t *Telemetry) reply(reply agent.LLMResponse, show bool) attributes {
	a := t.named(attributes{}.usage(reply.Usage), responseModel, reply.Model, responseID, reply.ID)
	if reply.FinishReason != "" {
		a = append(a, attribute.StringSlice(finishReasons, []string{t.name(reply.FinishReason)}))
	}
	if show && (reply.Content != "" || len(reply.ToolCalls) > 0 || len(reply.Parts) > 0) {
		shown := messages([]agent.Message{reply.Message()})
		shown[0].FinishReason = reply.FinishReason
		a = append(a, t.content(outputMessages, shown))
	}
	return a
}

// called appends the attributes of a tool call.
func (t *Telemetry) called(a attributes, call agent.ToolCallRequest) attributes {
	return t.named(a, toolName, call.Name, toolCallID, call.ID)
}

// fired returns the attributes that all events of a fire have.
func (t *Telemetry) fired(f hookkit.AnyFired, by, at string) attributes {
	a := t.named(attributes{attribute.String(point, f.Point)}, hook, by, site, at)
	switch p := f.Payload.(type) {
	case agent.ToolCallRequest:
		a = t.called(a, p)
	case agent.ToolCallResult:
		a = t.called(a, p.Call)
	case agent.Question:
		a = t.called(a, p.Call)
	case agent.Handoff:
		a = t.called(a, p.Call)
	}
	return a
}

// ended returns the attributes of a run that has ended, with the counts since it was resumed.
func (t *Telemetry) ended(result agent.AgentResult, before agent.Counters) attributes {
	a := attributes{
		attribute.Int(steps, result.Steps), attribute.Int(modelCalls, result.ModelCalls-before.ModelCalls),
		attribute.String(stopCause, t.name(string(result.Stop.Cause))),
	}
	all, was := result.Usage, before.Usage
	a = a.usage(agent.Usage{
		Input: all.Input - was.Input, Output: all.Output - was.Output,
		CacheRead: all.CacheRead - was.CacheRead, CacheWrite: all.CacheWrite - was.CacheWrite,
	})
	return t.named(a, stopBy, result.Stop.By, handedOffTo, result.HandedOffTo)
}

// labels returns the attributes of a metric.
func (t *Telemetry) labels(operation string, more attributes) attributes {
	return append(t.named(attributes{attribute.String(operationName, operation)}, providerName, t.Provider), more...)
}

// bare returns a short, redacted name, for a tracer without a Redactor of its own.
func bare(s string) string { return cut(new(redact.Redactor), s, nameChars) }
