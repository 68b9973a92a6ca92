package otel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A sink receives spans and metrics in memory.
type sink struct {
	spans  *tracetest.SpanRecorder
	traces *sdktrace.TracerProvider
	reader *metric.ManualReader
	meters *metric.MeterProvider
}

func newSink(t testing.TB) *sink {
	s := &sink{spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	s.traces = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans))
	s.meters = metric.NewMeterProvider(metric.WithReader(s.reader))
	t.Cleanup(func() {
		if err := s.traces.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := s.meters.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// hook returns a Telemetry that records to the sink.
func (s *sink) hook() *otel.Telemetry {
	return &otel.Telemetry{Traces: s.traces, Meters: s.meters, Provider: "test"}
}

// tracer returns the tracer of the program around the run.
func (s *sink) tracer() trace.Tracer { return s.traces.Tracer("program") }

// tree returns the names of the spans, each below its parent and indented, in the order of their start. It fails the
// test if a span has not ended.
func (s *sink) tree(t testing.TB) string {
	t.Helper()
	s.checkEnded(t)
	var b strings.Builder
	var below func(parent trace.SpanID, indent string)
	below = func(parent trace.SpanID, indent string) {
		for _, span := range s.spans.Started() {
			if span.Parent().SpanID() == parent {
				fmt.Fprintf(&b, "%s%s\n", indent, span.Name())
				below(span.SpanContext().SpanID(), indent+"  ")
			}
		}
	}
	below(trace.SpanID{}, "")
	return b.String()
}

func (s *sink) checkEnded(t testing.TB) {
	t.Helper()
	if started, ended := len(s.spans.Started()), len(s.spans.Ended()); started != ended {
		t.Errorf("%d spans started and %d ended", started, ended)
	}
}

// span returns the only span of the name.
func (s *sink) span(t testing.TB, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	all := slices.DeleteFunc(s.spans.Ended(), func(span sdktrace.ReadOnlySpan) bool { return span.Name() != name })
	if len(all) != 1 {
		t.Fatalf("%d spans have the name %q", len(all), name)
	}
	return all[0]
}

// values returns attributes by their keys, as text.
func values(attrs []attribute.KeyValue) map[string]string {
	all := make(map[string]string)
	for _, a := range attrs {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

// lines returns the events of a span, as "name key=value ...", without the place of registration.
func lines(span sdktrace.ReadOnlySpan) (all []string) {
	for _, e := range span.Events() {
		line := e.Name
		for _, a := range e.Attributes {
			if a.Key != "hookgen.hook.site" {
				line += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
			}
		}
		all = append(all, line)
	}
	return all
}

// everything returns all texts that left the process: names, attributes, events and statuses.
func (s *sink) everything() string {
	var b strings.Builder
	for _, span := range s.spans.Ended() {
		fmt.Fprintln(&b, span.Name(), values(span.Attributes()), span.Status().Description)
		for _, e := range span.Events() {
			fmt.Fprintln(&b, e.Name, values(e.Attributes))
		}
	}
	return b.String()
}

// points returns the number of measurements and their sum for each series of a metric, by its attributes.
func (s *sink) points(t testing.TB, name string) map[string]string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := s.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	series := make(map[string]string)
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					series[p.Attributes.Encoded(attribute.DefaultEncoder())] = fmt.Sprint(p.Count)
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					series[p.Attributes.Encoded(attribute.DefaultEncoder())] = fmt.Sprint(p.Count, " ", p.Sum)
				}
			}
		}
	}
	return series
}

// guard is a hook of functions.
type guard func(h *agent.Hooks)

func (g guard) Bind(h *agent.Hooks) { g(h) }
