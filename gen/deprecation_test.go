package gen

import (
	"testing"

	"github.com/hookgen/hookgen/gen/model"
)

func TestDeprecationIsTheParagraph(t *testing.T) {
	for name, c := range map[string]struct{ comment, want string }{
		"no comment":     {"", ""},
		"no paragraph":   {"// OnOne fires.\n", ""},
		"only paragraph": {"// Deprecated: use OnTwo.\n", "Deprecated: use OnTwo."},
		"last paragraph": {"// OnOne fires.\n//\n// Deprecated: use OnTwo.\n", "Deprecated: use OnTwo."},
		"middle paragraph": {"// OnOne fires.\n//\n// Deprecated: use\n// OnTwo.\n//\n// See there.\n",
			"Deprecated: use\nOnTwo."},
		"within a paragraph": {"// OnOne fires.\n// Deprecated: use OnTwo.\n", ""},
		"another word":       {"// OnOne fires.\n//\n// Deprecated use.\n", ""},
		"block comment":      {"/*\nOnOne fires.\n\nDeprecated: use OnTwo.\n*/\n", "Deprecated: use OnTwo."},
		"lines of Windows":   {"// OnOne fires.\r\n//\r\n// Deprecated: use OnTwo.\r\n", "Deprecated: use OnTwo."},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustRead(t, "package p\n\n//hookgen:points\ntype Points interface {\n"+c.comment+"OnOne(int)\n}\n")
			if got := model.Deprecation(s.Points[0].Doc); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
