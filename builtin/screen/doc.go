// Package screen checks the texts that enter and leave a run: the task, and the outputs of tools.
//
// Input refuses tasks; Output passes tool outputs through validators that rewrite or reject them. Checks of tool calls
// belong in package permission, and checks of final answers in package done.
//
// The package imports github.com/google/jsonschema-go for [Schema].
//
// Start with [Input] and [Output].
package screen
