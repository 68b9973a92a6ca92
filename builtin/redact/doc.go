// Package redact removes secrets and personal data from texts, JSON values and messages.
//
// The package has no hook of its own. Packages record, memory and observe redact their records with a [Redactor], and
// programs can use a Redactor directly. Redacting the outputs of tools belongs in package screen. The package
// recognises forms such as keys, tokens and card numbers; it does not understand meaning. It imports no third-party
// library.
//
// Start with [Redactor].
package redact
