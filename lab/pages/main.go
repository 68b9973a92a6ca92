// Command pages measures figures and writes them into pages of docs: each into the part between the comments
// <!-- NAME --> and <!-- end of NAME -->. Run it from the root of the repository:
//
//	go run ./lab/pages              all parts; takes minutes and needs a network
//	go run ./lab/pages rooms        the packages and the size that a hook of each package of builtin links
//	go run ./lab/pages contrib      the modules and the size that each module of contrib links
//	go run ./lab/pages trials       the tests that tried the promises of the security hooks
//	go run ./lab/pages redaction    the secrets that package redact finds, and its time, next to gitleaks
//	go run ./lab/pages proof        the bounds in the reports of the other programs of lab; measures nothing
//	go run ./lab/pages peers        the figures of the bench that compare hookgen with others; measures nothing
//
// A test makes each part without its figures, and compares it with the page.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/hookgen/hookgen/lab/figures"
)

// A part is the text between two comments of a page.
type part struct {
	name string // in the comments
	page string
	text func(meter) (string, error)
}

// parts lists the parts that this program writes.
var parts = []part{
	{"rooms", "docs/agents/built-in-hooks.md", rooms},
	{"contrib", "docs/agents/contrib.md", contrib},
	{"trials", "docs/evidence/security.md", tried},
	{"redaction", "docs/evidence/redaction.md", redaction},
	{"proof", "docs/evidence/proof.md", proof},
	{"peers", "docs/hooks/comparison.md", peers},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// run writes the named parts, or all of them.
func run(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("no page has a part %s: choose among rooms, contrib, trials, redaction, proof and peers", name)
		}
	}
	for _, p := range parts {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		text, err := p.text(true)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := figures.ReplacePart(p.page, p.name, text); err != nil {
			return err
		}
	}
	return nil
}

// A meter is true if figures are measured. Otherwise the texts have a placeholder in their place.
type meter bool

// unmeasured is the placeholder for a figure.
const unmeasured = "\x00"

// figure formats measured values, which form one figure.
func (m meter) figure(format string, values ...any) string {
	if !m {
		return unmeasured
	}
	return fmt.Sprintf(format, values...)
}

// made returns the sentence that begins each part, without its end.
func (m meter) made(name string) string {
	return fmt.Sprintf("\nMade by `go run ./lab/pages %s` on %s", name,
		m.figure("%s/%s with %s", runtime.GOOS, runtime.GOARCH, runtime.Version()))
}
