// Package toolargs reads the arguments of tool calls for rules, as tools decode them.
//
// A rule and a tool must see the same value. Tools decode the names of arguments without case, or in snake case and
// camel case, and let the last of several equal names win, or the first. Therefore names are compared as [FoldName]
// folds them, and arguments with a name that occurs twice are an error.
//
// Start with [Decode].
package toolargs
