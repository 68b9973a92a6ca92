// Package playground is the part of the site on which a reader changes a spec and a hook, and sees at once what hookgen
// generates, what it refuses, and what the compiler says of the hook. It runs in the browser: package main in wasm
// answers the page's questions, and nothing leaves the computer of the reader.
//
// Start with [Player.Answer] in answer.go. The hook is checked by go/types in check.go. The packages that a spec and a
// hook may import are in an archive of export data, which exports.go reads and the command in pack writes.
package playground
