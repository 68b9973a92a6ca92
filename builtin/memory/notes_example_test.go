package memory_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleNotesInjector() {
	notes := &memory.Notes{} // or Path: "notes.md"
	_ = notes.Append(context.Background(), "The build needs Go 1.26.", "")

	var hooks agent.Hooks
	hooks.Use(&memory.NotesInjector{Notes: notes})
	for _, text := range hooks.Briefing.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 1}) {
		fmt.Println(text)
	}
	// Output:
	// ## Notes
	// The build needs Go 1.26.
}
