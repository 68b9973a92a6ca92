// Package shell denies dangerous shell commands in the arguments of tool calls, or asks a person about them.
//
// [Guard] finds commands that destroy, whatever tool they are for. [CommandGlob] is a condition for the rules of
// package permission, which allow commands, deny them or ask a person. Both prevent accidents; neither is a sandbox.
//
// The package imports mvdan.cc/sh to parse commands. source.go parses the text; word.go and reader.go turn the syntax
// tree into commands. nested.go and wrapper.go add the commands that those run, also those of find, with a file for
// each large family: shells, other interpreters, awk and sed (interpreter.go), and git (git.go). Other commands are in
// the options of programs (options.go, with the table options.txt). The rules are in rules.go with the table rules.txt,
// and their conditions in a file for each large family; words.txt has the lists of names and patterns. strict.go and
// glob.go decide whether a rule may allow a text.
//
// Start with [Guard].
package shell
