package eino_test

import (
	"testing"

	"github.com/hookgen/hookgen/internal/adaptertest"
	"github.com/hookgen/hookgen/internal/readmetest"
)

func TestReadmeShowsTheExampleAsAProgram(t *testing.T) { readmetest.CheckExample(t, "eino") }

func TestAdapterHasAtMostAHundredLines(t *testing.T) { adaptertest.CheckSize(t) }

func TestLinkedModulesAreCounted(t *testing.T) {
	if modules := readmetest.Foreign(t, "."); len(modules) != 28 {
		t.Errorf("there are %d: %s", len(modules), modules)
	}
}
