// Package servertest has the tests of contrib/temporal with a real server. It is a module of its own, because the
// server takes minutes to compile. .ci/slow runs it.
package servertest
