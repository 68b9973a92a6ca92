// Package wireimpl connects generated code with hooks of other processes and with records. Only generated code uses it;
// people use packages wire and hooklog.
//
// Serve, Connect and NewRecorder are the generated functions Serve, Remote and Record. Start with [Spec].
package wireimpl
