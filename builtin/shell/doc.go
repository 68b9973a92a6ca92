// Package shell denies dangerous shell commands in the arguments of tool calls.
//
// [Guard] denies commands that destroy, whatever tool they are for. [CommandGlob] is a condition for the rules of
// package permission, which allow commands, deny them or ask a person. Both prevent accidents; neither is a sandbox.
//
// The package imports mvdan.cc/sh to parse commands. source.go parses the text; word.go and reader.go turn the syntax
// tree into commands. nested.go and wrapper.go add the commands that those run, with a file for each large family:
// shells and other interpreters (interpreter.go), find (find.go), git (git.go) and programs such as npx (runner.go).
// Other commands are in the options of programs (options.go, with the table options.txt), in their other arguments
// (hidden.go), in scripts of awk and sed (filters.go), in environment variables (variables.go), or run under a new name
// (rename.go). foreign.go and foreignfile.go search text that is not valid shell. decode.go and translate.go decode
// texts. The rules are in rules.go and in a file for each large family. strict.go and glob.go decide whether a rule may
// allow a text.
//
// Start with [Guard].
package shell
