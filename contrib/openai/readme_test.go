package openai

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/internal/readmetest"
)

func TestTheReadmeHasTheProgram(t *testing.T) { readmetest.CheckProgram(t) }

// The README says that importing this package adds no module but this one.
func TestThePackageNeedsNoOtherModule(t *testing.T) {
	want := []string{"github.com/hookgen/hookgen", "github.com/hookgen/hookgen/contrib/openai"}
	if got := readmetest.Linked(t, "."); !slices.Equal(got, want) {
		t.Errorf("the modules are %s, want %s", got, want)
	}
}
