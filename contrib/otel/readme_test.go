package otel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestReadmeShowsTheExampleAsAProgram(t *testing.T) { readmetest.CheckExample(t, "otel") }

// A program that imports the package links these modules. The SDK is a choice of the program.
func TestPackageLinksTheAPIOnly(t *testing.T) {
	want := []string{
		"github.com/cespare/xxhash/v2", "github.com/go-logr/logr", "github.com/go-logr/stdr", "go.opentelemetry.io/auto/sdk",
		"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/log", "go.opentelemetry.io/otel/metric",
		"go.opentelemetry.io/otel/trace",
	}
	if diff := cmp.Diff(want, readmetest.Foreign(t, ".")); diff != "" {
		t.Error(diff)
	}
}
