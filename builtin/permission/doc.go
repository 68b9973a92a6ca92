// Package permission decides which calls of tools may run: by rules, by name, by a policy service, or by a person.
//
// Its hooks vote at OnPermission and fail closed: a hook that fails denies the call. What a shell command may do is
// judged by package shell. Screening of texts is in package screen.
//
// The package uses github.com/bmatcuk/doublestar for paths and github.com/expr-lang/expr for conditions.
//
// Start with [Rules].
package permission
