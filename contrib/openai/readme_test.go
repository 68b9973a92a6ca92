package openai

import (
	"testing"

	"github.com/hookgen/hookgen/internal/modelhttp/modeltest"
)

func TestTheReadmeHasTheProgram(t *testing.T) { modeltest.CheckReadme(t) }

// The README says that importing this package adds no module but this one.
func TestThePackageNeedsNoOtherModule(t *testing.T) {
	modeltest.CheckModules(t, "github.com/hookgen/hookgen", "github.com/hookgen/hookgen/contrib/openai")
}
