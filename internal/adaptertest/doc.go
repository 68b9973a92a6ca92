// Package adaptertest has the tests that the adapters of other frameworks in contrib share. Only tests import it. Start
// with [CheckCancellation].
package adaptertest
