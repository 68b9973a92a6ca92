// Package guardrail checks the texts that enter and leave a run: the task, the outputs of tools, and the reply.
//
// [Input] refuses tasks, before or beside the first model call; [Output] and [Reply] pass tool outputs and replies
// through validators that rewrite or reject them. A validator is a function, a [Schema], a redactor, or a model that
// judges by a policy, see [Judge].
// Checks of tool calls belong in package permission. Package answer checks whether the work is done that an answer
// claims.
//
// The package imports github.com/google/jsonschema-go for [Schema].
//
// Start with [Input], [Output] and [Reply].
package guardrail
