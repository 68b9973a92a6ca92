// Package declared runs hooks that are declared in a JSON file instead of in the program: commands, processes, HTTP
// endpoints, prompts for a model, and ready-made hooks by name. Operators change the file without a new build of the
// agent.
//
// [File] reads the file and adds its hooks. A file with any mistake adds nothing; the error names the line and the
// column. docs/agents/declared-hooks.md describes the format with examples.
//
// Settings files of Claude Code are read by package claudecode, and files that contain only rules by package
// permission.
//
// Commands, processes and endpoints speak the messages of package hookkit/wire. The package imports package permission
// for expressions, and with it github.com/expr-lang/expr and github.com/bmatcuk/doublestar. Ready-made hooks are linked
// only if the program lists them.
//
// The steps of a load are in files of their own: document.go parses JSON with positions, file.go decodes the
// declarations, and program.go, prompt.go and ready.go make the hooks. match.go selects the calls, and load.go replaces
// the hooks of the last load.
//
// Start with [File].
package declared
