package shell

import "mvdan.cc/sh/v3/syntax"

// A Dialect is the language of the shell that runs a command. The same text can mean different things: dash reads
// "git log &> x" as two commands, bash as one.
type Dialect string

// The dialects.
const (
	AnyShell Dialect = ""      // unknown: bash or a POSIX shell such as dash
	POSIX    Dialect = "posix" // dash, busybox and other shells that are sh
	Bash     Dialect = "bash"  // bash 5
)

// variants returns the languages of the parser for a dialect.
func (d Dialect) variants() []syntax.LangVariant {
	switch d {
	case Bash:
		return []syntax.LangVariant{syntax.LangBash}
	case POSIX:
		return []syntax.LangVariant{syntax.LangPOSIX}
	}
	return []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX}
}
