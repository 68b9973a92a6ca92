package figures

import (
	"fmt"
	"os"
	"strings"
)

// ReplacePart replaces the part of a page between the comments <!-- name --> and <!-- end of name -->, which stay. The
// file is replaced whole or not at all.
func ReplacePart(path, name, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no part between the comments for %s", path, name)
	}
	return WriteFile(path, []byte(before+begin+text+end+after))
}
