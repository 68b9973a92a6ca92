package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen/breaking"
	"github.com/hookgen/hookgen/gen/model"
)

// general is the help of hookgen, with verbs for the lines of the commands, the commands that have more help, and the
// lines of the markers.
//
//go:embed help/hookgen.txt
var general string

//go:embed help/breaking.txt
var helpBreaking string

//go:embed help/doc.txt
var helpDoc string

//go:embed help/export.txt
var helpExport string

// helps has the help of the commands that need more than the general help.
var helps = map[string]string{"breaking": helpBreaking, "doc": helpDoc, "export": helpExport}

// help returns the help for the command.
func (c command) help() string {
	text, ok := helps[c.name]
	switch {
	case !ok:
		return generalHelp()
	case c.name == "breaking":
		for _, r := range breaking.Rules {
			text += fmt.Sprintf("\t%-28s%s\n", r.ID, r.Says)
		}
	}
	return text
}

// generalHelp returns the help with lists of the commands and the markers.
func generalHelp() string {
	var usage, markers strings.Builder
	for _, c := range commands() {
		usage.WriteString(c.usage)
	}
	for _, m := range model.Markers {
		fmt.Fprintf(&markers, "\t%-20s%s\n", m.Usage(), m.Help)
	}
	return fmt.Sprintf(general, usage.String(), strings.Join(slices.Sorted(maps.Keys(helps)), ", "), markers.String())
}
