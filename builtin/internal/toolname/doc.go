// Package toolname matches the names of tools against patterns, and bounds names that are displayed or stored.
//
// Names need bounds because a model can invent a name of any length. Start with [Match].
package toolname
