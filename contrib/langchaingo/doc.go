// Package langchaingo fires the hooks of an agent loop in agents of [github.com/tmc/langchaingo].
//
// [Model] wraps a model and [Tools] wraps tools, for every agent of its package agents. Call the executor inside
// [adapt.Host.Run], which fires the points of the run. A denied call becomes the observation of the agent, so that the
// model reads the reason and the agent continues. If a hook ends the run, the executor fails with an [*adapt.Ended],
// and Run makes a result of it.
//
// Start with [Model].
package langchaingo
