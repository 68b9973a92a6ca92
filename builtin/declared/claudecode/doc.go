// Package claudecode runs the command hooks of Claude Code settings files in an agent of this module. For example, a
// team has a script that refuses pushes to the main branch, and wants it in its own agent too.
//
// [Read] reads the settings, and the [Hooks] that it returns call the scripts at the corresponding points. The scripts
// get the same JSON on standard input, and their exit codes and their JSON on standard output mean the same.
// docs/agents/claude-code.md lists all events with the differences.
//
// A file that declares hooks without Claude Code belongs in package declared, and permission rules in package
// permission.
//
// The package imports no third-party library. settings.go reads files and matchers, keys.go knows their keys, rule.go
// compares the field if with calls, command.go runs one script, and answer.go reads and merges the answers. session.go
// and tools.go connect the events with the points.
//
// Start with [Read].
package claudecode
