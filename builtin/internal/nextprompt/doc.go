// Package nextprompt queues texts for the next prompt of a run.
package nextprompt
