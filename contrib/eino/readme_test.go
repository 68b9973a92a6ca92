package eino_test

import (
	"testing"

	"github.com/hookgen/hookgen/internal/adaptertest"
)

func TestReadmeShowsTheExampleAsAProgram(t *testing.T) { adaptertest.CheckReadme(t, "eino") }

func TestAdapterHasAtMostAHundredLines(t *testing.T) { adaptertest.CheckSize(t) }

func TestLinkedModulesAreCounted(t *testing.T) { adaptertest.CheckModules(t, 28) }
