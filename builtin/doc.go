// Package builtin holds ready-made hooks for the fire points of an agent loop.
//
// A hook is a struct with plain fields; its zero value has the documented defaults. Hooks.Use of package agent
// binds it. A field that cannot work panics there, naming the field and what to do; nothing is checked later.
// State belongs to one hook value and one run unless the comment says otherwise, so one value serves any number
// of runs at once.
//
// The package imports the generated package agent and hookkit; it knows no loop.
package builtin
