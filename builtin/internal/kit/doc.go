// Package kit contains the code that most hooks of builtin share: validation of fields, access to the run, error
// reports of observers, and deduplication of notifications.
//
// Code that belongs to one concern has a package of its own, such as shorten or jsonx.
//
// Start with [MustConfig].
package kit
