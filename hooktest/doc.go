// Package hooktest tests the hooks of an agent loop.
//
//   - [Check] runs the conformance suite on a hook. Begin here: one line in a test of the hook is enough.
//   - [Recorder] remembers every fire and every decision, and which hook took it.
//
// To test a hook in a whole run of an agent, use package loop/looptest.
package hooktest
