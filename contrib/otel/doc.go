// Package otel reports runs of an agent to OpenTelemetry, as traces and metrics.
//
// [Telemetry] is a hook. It makes one span for each run, each model call and each tool call, and puts the span into the
// context of the call. A model client or a tool that is instrumented as well, for example with otelhttp, therefore
// continues the trace. [Trace] makes a span for each fire of the hooks of any spec.
//
// Package builtin/observe has a hook of the same purpose without a dependency, observe.Tracing. It writes records of
// spans in the background, but other libraries do not know its spans, and cannot add children to its spans.
//
// The package imports the API of OpenTelemetry and not its SDK. The program chooses the SDK, the exporter and the
// sampler. Use a batching exporter, because a synchronous one delays the run.
//
// Start with [Telemetry].
package otel
