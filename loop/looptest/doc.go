// Package looptest tests agents of package loop, their tools and their hooks without a real model.
//
// A real model is slow and answers differently each time. Give the agent a [Script] instead, which plays the turns
// of the test. Start with [NewScript] and the package example.
//
//   - [Script] is a model that plays replies, tool calls, errors and functions, built by [Reply], [Call],
//     [Calls], [Echo], [Error] and [Func]. It records its requests.
//   - [Tool] is a fake tool with a fixed result, error or delay that counts its calls.
//   - [Clock] is a clock that a test advances.
//   - [Harness] combines these: one line runs an agent with hooks and records every fire.
//   - [Check] runs the conformance suite on a hook, alone and in an agent. Use it in the test of every hook.
//   - [CheckStore] and [CheckSessionStore] are the conformance suites for stores. Package memorytest has that of
//     memories.
//   - [CheckModel] runs the conformance suite on a model, for authors of models.
//   - [CheckTool] runs the conformance suite on a tool.
//
// For hooks of another spec than the agent's, use package hooktest.
package looptest
