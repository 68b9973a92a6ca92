// Package gen turns a spec file into Go source. Package cmd/hookgen uses it, and so do the packages below gen: breaking
// compares two specs, summary turns one into plain data, and page and export make documents of that.
//
// It is a pipeline, and each stage is a pure function of the one before:
//
//	load     the files of a directory, as bytes             source.go
//	parse    their syntax trees, with go/parser alone       parse.go
//	outline  the model, as far as the spec makes sense      outline.go, element.go, model.go, law.go
//	check    one function per rule, in one list             check.go, check_*.go
//	emit     the generated files, as bytes                  emit.go, emit_wire.go
//
// [Read] runs the first four. [Emit] makes the generated file, and [EmitWire] the second one of a spec that is marked
// //hookgen:wire. Nothing is type-checked and no other program is started, so a spec is read in milliseconds, even in a
// tree that does not compile. The package writes no file; that is the command's part. It does not import the runtime:
// the generated code names it, but the generator does not need it.
//
// [Outline] stops after the model, for old versions of a spec. [Spec.Surface] describes the points and every type that
// they reach as plain data (surface.go, surface_*.go), and package gen/breaking compares two of them.
//
// # Emitting
//
// Formatting is the slow part, and two points with the same law differ only in names. So the code of each law is
// rendered and formatted once per run, with placeholders such as HookgenPoint for the names:
//
//	emit_point.go        the API of a point, which people read, with jennifer
//	point.go.tmpl        the machinery of a point, a template that looks like its output
//	emit_law.go          the facts about a law that the template needs
//	emit_law_text.go     renders a law on first use
//	emit_substitution.go replaces the placeholders for each point
//
// No placeholder affects the layout, so that the result is formatted too. A point whose types or comments gofmt may
// lay out differently, for example a struct type of several lines, is formatted again. The declarations that do not
// belong to a point are in emit_guard.go (the restated spec), emit_hooks.go (Run and Hooks) and emit_exports.go (exits,
// aliases and constants). All use emit_types.go (types as the generated file writes them), emit_comments.go (comments),
// emit_names.go (names that hide nothing) and fold.go, which breaks long lines.
//
// To add a rule, write its check in the check_*.go file of its group and add it to the list in check.go. To change
// the loop that runs hooks, edit point.go.tmpl, generate the fixtures again, and read the difference.
package gen
