// Package adapttest checks an adapter that runs agents of another framework with the hooks of a host of package adapt:
// models and tools that fail, replies in pieces, and cancellation at each moment. The adapters in contrib pass it.
// Import it in tests only. Start with [CheckCancellation].
package adapttest
