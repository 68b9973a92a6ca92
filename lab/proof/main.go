// Command proof builds docs/evidence/proof.md, a page with each invariant and bound, its evidence, and the latest
// figure with the command that reproduces it. No text on the page is typed by hand: the statements are the doc comments
// of the tests, and the figures are the reports of package figures, which the runs write.
//
//	go run ./lab/proof          runs the tests named in groups.go, writes their report, and builds the page
//	go run ./lab/proof -page    builds the page from the existing reports
//
// If a test fails, is skipped, or is missing, the exit status is 1 and the page stays unchanged.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/lab/figures"
)

func main() {
	pageOnly := flag.Bool("page", false, "make the page only, of the reports that are there")
	root := flag.String("root", ".", "root `directory` of the repository")
	flag.Parse()
	if err := run(*root, *pageOnly); err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(1)
	}
}

func run(root string, pageOnly bool) error {
	if !pageOnly {
		report, err := play(root)
		if err != nil {
			return err
		}
		if err := report.Write(root); err != nil {
			return err
		}
	}
	reports, err := figures.Read(root)
	if err != nil {
		return err
	}
	text, err := page(reports)
	if err != nil {
		return err
	}
	path := filepath.Join(root, "docs", "evidence", "proof.md")
	if err := figures.WriteFile(path, text); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
