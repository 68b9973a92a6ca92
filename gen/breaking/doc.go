// Package breaking compares two versions of a spec, and says for each difference whether hooks and programs that were
// written for the old version still compile and behave as before.
//
// Start with [Compare] in compare.go. It works on the plain data of [gen.Surface]:
//
//	match.go      finds the points of both versions, and compares types as they are written
//	reach.go      finds the points that reach a type
//	point.go      compares a point: its payload, its law and its exits
//	api.go        derives what hooks, observers and programs see of a law
//	type.go       compares the declaration of a type, with the files below
//	field.go      compares the fields of a struct
//	tag.go        compares their tags, and their form in JSON
//	method.go     compares the methods of a type
//	interface.go  compares the methods of an interface
//	member.go     compares the members of embedded fields
//	const.go      compares the constants
//	deprecation.go  reports what is deprecated in one of the versions
//	rule.go       lists the verdicts, and rules.txt the rules
//	ignore.go     applies //hookgen:ignore lines
//	report.go     prints findings as text, as JSON and as annotations
//
// To add a rule, add it to rules.txt, report it, and add a case to tests/breaking, where programs of the old
// version are compiled and run with the new one.
package breaking
