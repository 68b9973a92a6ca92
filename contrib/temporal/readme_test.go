package temporal

import (
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestReadmeHasTheProgram(t *testing.T) { readmetest.CheckProgram(t) }

func TestReadmeNamesTheLinkedModules(t *testing.T) { readmetest.CheckLinked(t) }
