package langchaingo_test

import (
	"testing"

	"github.com/hookgen/hookgen/internal/adaptertest"
	"github.com/hookgen/hookgen/internal/readmetest"
)

func TestReadmeShowsTheExampleAsAProgram(t *testing.T) { readmetest.CheckExample(t, "langchaingo") }

func TestAdapterHasAtMostAHundredLines(t *testing.T) { adaptertest.CheckSize(t) }

func TestLinkedModulesAreCounted(t *testing.T) {
	if modules := readmetest.Foreign(t, "."); len(modules) != 6 {
		t.Errorf("there are %d: %s", len(modules), modules)
	}
}
