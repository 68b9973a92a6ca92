// Package modelhttp is the HTTP side of the models in contrib: a POST with a JSON body whose answer is JSON or a stream
// of server-sent events.
//
// Model APIs differ in their fields and agree in how they fail. They stop sending in the middle of a reply, report an
// error after status 200, ask to come back later, and quote the key that they rejected. This package handles that once.
// A model fills a [Call], sends it with [Call.Post] and reads the [Reply]. Every failure is an [Error], except that a
// call whose context is done returns the error of the context.
//
// The modules in contrib import this package and are versioned apart, so its exported names stay compatible.
package modelhttp
