package mcp_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

func TestTheReadmeHasTheExample(t *testing.T) { readmetest.CheckProgram(t) }

func TestTheReadmeNamesTheModules(t *testing.T) { readmetest.CheckLinked(t) }
