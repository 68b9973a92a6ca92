// Package adapt fires the points of the agent loop for agents of other frameworks.
//
// A program that has an agent of another framework keeps its loop and gets our hooks. An adapter wraps three things of
// the framework: a run with [Host.Run], a call to the model with [Host.Model], and a tool call with [Host.Tool]. They
// fire the points in the order of package loop and apply the decisions. The adapter converts messages and calls, with
// [ModelAs], [ToolAs] and [Restore]. The modules contrib/eino and contrib/langchaingo and the middleware of contrib/mcp
// are such adapters.
//
// The package does not import package loop. Start with [Host]. The page docs/agents/adapters.md explains how to write
// an adapter.
package adapt
