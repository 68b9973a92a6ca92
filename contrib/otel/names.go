package otel

// The names of the semantic conventions for generative AI, version 1.41. They are experimental, so a later version may
// rename them.
const (
	operationName = "gen_ai.operation.name"
	providerName  = "gen_ai.provider.name"
	agentName     = "gen_ai.agent.name"
	conversation  = "gen_ai.conversation.id"

	requestModel       = "gen_ai.request.model"
	requestMaxTokens   = "gen_ai.request.max_tokens"
	requestTemperature = "gen_ai.request.temperature"
	outputType         = "gen_ai.output.type"

	responseModel   = "gen_ai.response.model"
	responseID      = "gen_ai.response.id"
	finishReasons   = "gen_ai.response.finish_reasons"
	inputTokens     = "gen_ai.usage.input_tokens"
	outputTokens    = "gen_ai.usage.output_tokens"
	cacheReadTokens = "gen_ai.usage.cache_read.input_tokens"
	cacheWritten    = "gen_ai.usage.cache_creation.input_tokens"

	toolName      = "gen_ai.tool.name"
	toolType      = "gen_ai.tool.type"
	toolCallID    = "gen_ai.tool.call.id"
	toolArguments = "gen_ai.tool.call.arguments"
	toolResult    = "gen_ai.tool.call.result"

	inputMessages  = "gen_ai.input.messages"
	outputMessages = "gen_ai.output.messages"

	tokenType = "gen_ai.token.type"
	errorType = "error.type"
	userID    = "user.id"

	operationDuration = "gen_ai.client.operation.duration"
	tokenUsage        = "gen_ai.client.token.usage"
)

// The operations of spans.
const (
	invokeAgent = "invoke_agent"
	chat        = "chat"
	executeTool = "execute_tool"
)

// The names that the semantic conventions do not have. No attribute has the name of an event or of a namespace.
const (
	runID       = "hookgen.run.id"
	tenant      = "hookgen.tenant"
	step        = "hookgen.step"
	steps       = "hookgen.run.steps"
	modelCalls  = "hookgen.run.model_calls"
	stopCause   = "hookgen.run.stop.cause"
	stopBy      = "hookgen.run.stop.by"
	handedOffTo = "hookgen.run.handed_off_to"

	point    = "hookgen.point"
	hook     = "hookgen.hook.name"
	site     = "hookgen.hook.site"
	decision = "hookgen.decision.name"
	reason   = "hookgen.reason"
	denial   = "hookgen.denial.kind"

	eventDecision = "hookgen.decision"
	eventFailure  = "hookgen.failure"
	eventDenial   = "hookgen.denial"
)

// other is the value of an attribute whose real value would be one too many.
const other = "_OTHER"
