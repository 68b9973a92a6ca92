package otel

import (
	"strings"
	"testing"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

func TestNamesAreThoseOfTheConventions(t *testing.T) {
	for _, c := range []struct{ ours, theirs string }{
		{operationName, string(semconv.GenAIOperationNameKey)},
		{providerName, string(semconv.GenAIProviderNameKey)},
		{agentName, string(semconv.GenAIAgentNameKey)},
		{conversation, string(semconv.GenAIConversationIDKey)},
		{requestModel, string(semconv.GenAIRequestModelKey)},
		{requestMaxTokens, string(semconv.GenAIRequestMaxTokensKey)},
		{requestTemperature, string(semconv.GenAIRequestTemperatureKey)},
		{outputType, string(semconv.GenAIOutputTypeKey)},
		{responseModel, string(semconv.GenAIResponseModelKey)},
		{responseID, string(semconv.GenAIResponseIDKey)},
		{finishReasons, string(semconv.GenAIResponseFinishReasonsKey)},
		{inputTokens, string(semconv.GenAIUsageInputTokensKey)},
		{outputTokens, string(semconv.GenAIUsageOutputTokensKey)},
		{cacheReadTokens, string(semconv.GenAIUsageCacheReadInputTokensKey)},
		{cacheWritten, string(semconv.GenAIUsageCacheCreationInputTokensKey)},
		{toolName, string(semconv.GenAIToolNameKey)},
		{toolType, string(semconv.GenAIToolTypeKey)},
		{toolCallID, string(semconv.GenAIToolCallIDKey)},
		{toolArguments, string(semconv.GenAIToolCallArgumentsKey)},
		{toolResult, string(semconv.GenAIToolCallResultKey)},
		{inputMessages, string(semconv.GenAIInputMessagesKey)},
		{outputMessages, string(semconv.GenAIOutputMessagesKey)},
		{tokenType, string(semconv.GenAITokenTypeKey)},
		{errorType, string(semconv.ErrorTypeKey)},
		{userID, string(semconv.UserIDKey)},
		{invokeAgent, semconv.GenAIOperationNameInvokeAgent.Value.AsString()},
		{chat, semconv.GenAIOperationNameChat.Value.AsString()},
		{executeTool, semconv.GenAIOperationNameExecuteTool.Value.AsString()},
		{other, semconv.ErrorTypeOther.Value.AsString()},
		{operationDuration, genaiconv.ClientOperationDuration{}.Name()},
		{tokenUsage, genaiconv.ClientTokenUsage{}.Name()},
	} {
		t.Run(c.ours, func(t *testing.T) {
			if c.ours != c.theirs {
				t.Errorf("it is %q", c.theirs)
			}
		})
	}
}

// Backends store attributes as trees, so that an attribute cannot be the parent of another one.
func TestOwnNamesDoNotCollide(t *testing.T) {
	attributes := []string{
		runID, tenant, step, steps, modelCalls, stopCause, stopBy, handedOffTo, point, hook, site, decision, reason, denial,
	}
	for i, a := range attributes {
		for _, event := range []string{eventDecision, eventFailure, eventDenial} {
			if a == event {
				t.Errorf("%s is an attribute and an event", a)
			}
		}
		for k, b := range attributes {
			if i != k && (a == b || strings.HasPrefix(b, a+".")) {
				t.Errorf("%s is the parent of %s", a, b)
			}
		}
	}
}
