package tiktoken

import (
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestTheReadmeHasTheExample(t *testing.T) { readmetest.CheckProgram(t) }

func TestTheReadmeNamesTheModules(t *testing.T) { readmetest.CheckLinked(t) }
