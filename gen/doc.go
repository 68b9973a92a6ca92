// Package gen turns a spec file into Go source.
//
// It is a pipeline, and each stage is a pure function of the one before:
//
//	load     the files of a directory, as bytes         source.go
//	parse    their syntax trees, with go/parser alone   parse.go
//	outline  the model, filled as far as it goes        outline.go, law.go
//	check    one function per rule, in one list         check.go
//	emit     the generated file, as bytes               emit.go
//
// [Read] runs the first four. Nothing is type-checked and no other program is started, so a spec is
// read in a tree that does not compile, and in milliseconds. The package writes no file; that is the
// command's part. It does not import the runtime: generated code names it, the generator need not.
//
// To add a rule, write its check beside those of its group and put it into the list in check.go.
package gen
