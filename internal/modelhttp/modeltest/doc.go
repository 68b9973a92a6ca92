// Package modeltest has the tests that the models in contrib share: a server that replays replies, and checks that a
// call ends when its context or the server does. Only tests import it. Start with [CheckEnds].
package modeltest
