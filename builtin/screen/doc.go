// Package screen checks the texts that enter and leave a run: the task, and the outputs of tools.
//
// Input refuses tasks; Output passes tool outputs through validators that rewrite or reject them. Which calls may run
// is decided in package permission; whether an answer is good enough is decided in package done.
//
// The package uses github.com/google/jsonschema-go for [Schema].
//
// Start with [Input] and [Output].
package screen
