// Package eino fires the hooks of an agent loop in agents of [github.com/cloudwego/eino].
//
// [Model] wraps a chat model and [Tools] wraps tools, for react.Agent, adk.ChatModelAgent and graphs. Call the agent
// inside [adapt.Host.Run], which fires the points of the run. A denied call becomes the result of the tool, so that the
// model reads the reason and the agent continues. If a hook ends the run, the agent fails with an [*adapt.Ended], and
// Run makes a result of it.
//
// Start with [Model].
package eino
