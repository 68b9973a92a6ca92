// Package claudecode runs the command hooks of Claude Code settings files in an agent of this module. For example, a
// team has a script that refuses pushes to the main branch, and wants it in its own agent too.
//
// [Read] reads the settings, and the [Hooks] that it returns call the scripts at the corresponding points: with the same
// JSON on standard input, and with the same meaning of exit codes and of JSON on standard output. docs/claude-code.md
// lists all events, with what is the same, different or missing.
//
// The package imports no third-party library. settings.go reads files and matchers, command.go runs one script,
// verdict.go reads and merges their answers, and session.go, tools.go, asking.go and stopping.go connect the events with
// the points.
//
// Start with [Read].
package claudecode
