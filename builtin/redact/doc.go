// Package redact removes secrets and personal data from texts, JSON values and messages.
//
// The package has no hook of its own. Packages record, memory and observe redact their records with a [Redactor], and
// programs can use a Redactor directly. Redacting the outputs of tools belongs in package guardrail. The package
// recognises forms such as keys, tokens and card numbers; it does not understand meaning. It imports no third-party
// library.
//
// Finders read a view of the text, without the colors of terminals and with masks for symbols outside ASCII (view.go),
// and views of its encoded parts, for example of texts in JSON and of mails (decode.go). They are independent, and each
// reads a view once, in time linear in its length: tokens with a known prefix (forms.go), values after the name of a
// secret (named.go), elements of XML (markup.go), credentials in URLs (url.go), private keys (privatekey.go) and
// personal data (personal.go). Marks name the kind of a secret (mark.go). To add a provider, add a line to
// tables/forms.txt if its tokens have a prefix, or else to tables/providers.txt. The forms of numbers, placeholders and
// commands are regular expressions in tables/syntax.txt.
//
// Many of the prefixes, alphabets and lengths are those of the rules that gitleaks (https://gitleaks.io, MIT) publishes
// in config/gitleaks.toml. Thanks to its authors. The program itself is not a library for this purpose: it links 370
// packages and adds 12 MB, reports lines instead of replacing spans, and knows neither structured values nor texts that
// were cut. The table in docs/evidence/redaction.md compares both.
//
// Telephone numbers are recognised by the notations that [Redactor] names, and not with
// github.com/nyaruka/phonenumbers. Version 1.8.1 of that library adds 7.4 MB to a program and takes 20 µs for each
// candidate, of which 10 MB of text can have two million. It needs the country of a national number, which a text does
// not say.
//
// Start with [Redactor].
package redact
