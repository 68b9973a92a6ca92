// Package ported holds the hooks that other hook systems show in their documentation, written for the reference spec:
// ten to thirty lines each, and checked by the compiler. The tests run every one of them in a real loop.
package ported
