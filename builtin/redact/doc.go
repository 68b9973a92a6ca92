// Package redact removes secrets and personal data from texts, JSON values and messages.
//
// It has no hook of its own: packages record, memory and observe redact what they write with a [Redactor], and the
// Redactor can be used alone. It recognises forms such as keys, tokens and card numbers, not meanings. The package
// imports no library.
//
// Start with [Redactor].
package redact
