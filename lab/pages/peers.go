package main

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

// compared are the beginnings of the names of the bench's figures that compare hookgen with something else.
var compared = []string{
	"Fire, 8 continuing hooks, over a hand-written loop, laws with Replace",
	"Fire, 8 continuing hooks, over a hand-written loop, laws without",
	"Fire, 8 continuing hooks, over PocketBase",
	"Fire, 8 continuing hooks, over eino",
	"Fire, 8 continuing hooks, over mcp-go",
	"loop without hooks, each step, over eino",
}

// peers returns the figures of compared, from the report of the bench's last run.
func peers(meter) (string, error) {
	report, err := figures.Read(".", "bench")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("\n| what | ratio, the worst | the others |\n|---|---|---|\n")
	for _, name := range compared {
		found := 0
		for _, f := range report.Figures {
			if strings.HasPrefix(f.Of, name) {
				found++
				fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(f.Of), cell(f.Value), cell(f.Note))
			}
		}
		if found != 1 {
			return "", fmt.Errorf("the report bench has %d figures whose name begins with %q, not one", found, name)
		}
	}
	return b.String(), nil
}
