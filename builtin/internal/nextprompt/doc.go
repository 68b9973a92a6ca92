// Package nextprompt queues texts for the next prompt of a run, for example a hint after a failed call.
//
// Start with [Queue].
package nextprompt
