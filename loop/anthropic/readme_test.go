package anthropic

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestTheReadmeHasTheProgram(t *testing.T) { readmetest.CheckProgram(t) }

func TestProgramsLinkNoOtherModule(t *testing.T) {
	want := []string{"github.com/hookgen/hookgen"}
	if got := readmetest.Linked(t, "."); !slices.Equal(got, want) {
		t.Errorf("the modules are %s, want %s", got, want)
	}
}
