package gen

import (
	"fmt"

	"github.com/hookgen/hookgen/gen/internal/emit"
	"github.com/hookgen/hookgen/gen/model"
)

// An Output is the destination of the generated code.
type Output = model.Output

// Emit returns the Go source for a spec that was read without an error: the file with the name [FileName]. The source
// is gofmt-clean, and equal on every machine.
func Emit(s *Spec, to Output) ([]byte, error) { return emitFile(s, to, emit.Hooks) }

// EmitWire returns the Go source of the functions that connect hooks of other processes, for a spec marked
// //hookgen:wire: the file with the name [WireFileName].
func EmitWire(s *Spec, to Output) ([]byte, error) { return emitFile(s, to, emit.Wire) }

func emitFile(s *Spec, to Output, file func(*model.Spec, Output, string) ([]byte, error)) ([]byte, error) {
	text, err := file(&s.Spec, to, header(s, to))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot emit: %w", s.File, err)
	}
	return text, nil
}
