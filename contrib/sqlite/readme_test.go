package sqlite

import (
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestReadmeHasTheExample(t *testing.T) { readmetest.CheckExample(t, "sqlite") }

func TestReadmeNamesTheLinkedModules(t *testing.T) { readmetest.CheckLinked(t) }
