package sqlite

import (
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestReadmeHasTheExample(t *testing.T) { readmetest.CheckBody(t) }

func TestReadmeNamesTheLinkedModules(t *testing.T) { readmetest.CheckLinked(t) }
