// Package permission decides which tool calls may run: by rules, by name, by a policy service, or by asking a person.
//
// Its hooks vote at the point OnPermission and fail closed: if a hook fails, the call is denied. Package shell contains
// the hook for dangerous shell commands and the condition for rules about commands, and package guardrail the hooks
// that check tasks and outputs.
//
// The package imports github.com/bmatcuk/doublestar for paths and github.com/expr-lang/expr for conditions.
//
// Start with [Rules].
package permission
