// Package gen turns a spec file into Go source. Package cmd/hookgen uses it, and so do the packages below gen: breaking
// compares two specs, summary turns one into plain data, and page and export make documents of that.
//
// It is a pipeline, and each stage is a pure function of the one before:
//
//	load     the files of a directory, as bytes             source.go
//	parse    their syntax trees, with go/parser alone       parse.go
//	outline  the model, as far as the spec makes sense      outline.go, element.go, key.go, and package model
//	check    one function per rule, in one list             check.go, check_*.go
//	emit     the generated files, as bytes                  emit.go, and package internal/emit
//
// [Read] runs the first four. [Emit] makes the generated file, and [EmitWire] the second one of a spec that is marked
// //hookgen:wire. Nothing is type-checked and no other program is started, so a spec is read in milliseconds, even in a
// tree that does not compile. The package writes no file; that is the command's part. It does not import the runtime:
// the generated code names it, but the generator does not need it.
//
// [Outline] stops after the model, for old versions of a spec. [Spec.Surface] describes the points and every type that
// they reach as plain data (surface.go, surface_*.go), and package gen/breaking compares two of them.
//
// To add a rule, write its check in the check_*.go file of its group and add it to the list in check.go. To change
// the loop that runs hooks, edit internal/emit/point.go.tmpl, generate the fixtures again, and read the difference.
package gen
