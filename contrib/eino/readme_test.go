package eino_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestReadmeShowsTheExampleAsAProgram(t *testing.T) { readmetest.CheckExample(t, "eino") }

func TestLinkedModulesAreCounted(t *testing.T) {
	if modules := readmetest.Foreign(t, "."); len(modules) != 28 {
		t.Errorf("there are %d: %s", len(modules), modules)
	}
}
