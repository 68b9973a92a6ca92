// Package otel reports runs of an agent to OpenTelemetry, as traces and metrics.
//
// [Telemetry] is a hook. It makes one span for each run, each model call and each tool call, and puts the span into the
// context of the call. A model client or a tool that is instrumented as well, for example with otelhttp, therefore
// continues the trace. [Trace] makes a span for each fire of the hooks of any spec.
//
// The package imports the API of OpenTelemetry and not its SDK. The program chooses the SDK, the exporter and the
// sampler. Use a batching exporter, because a synchronous one delays the run.
//
// Start with [Telemetry].
package otel
