// Package conversation removes old messages of a conversation without separating a tool call from its result.
//
// It splits messages into turns that are kept or dropped as a whole. Summaries of dropped turns belong in package
// compact. Start with [Cut].
package conversation
