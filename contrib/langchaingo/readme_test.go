package langchaingo_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestReadmeShowsTheExampleAsAProgram(t *testing.T) { readmetest.CheckExample(t, "langchaingo") }

func TestLinkedModulesAreCounted(t *testing.T) {
	if modules := readmetest.Foreign(t, "."); len(modules) != 6 {
		t.Errorf("there are %d: %s", len(modules), modules)
	}
}
