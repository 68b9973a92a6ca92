// Package queue passes items to a function in the background, for example trace events to a slow exporter.
//
// Start with [Queue].
package queue
