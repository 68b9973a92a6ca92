package shell

import (
	"strings"
	"unicode/utf8"
)

// maxList is the most bytes of a list of tr that is read.
const maxList = 1000

// translated returns the text to which tr translates another one, or "" if its arguments are not known here.
func translated(args []string, text string) string {
	from, to := "", ""
	switch {
	case len(args) != 2 || len(args[0])+len(args[1]) > maxList:
		return ""
	case args[0] == "-d":
		from = letters(args[1])
	case strings.HasPrefix(args[0], "-"):
		return ""
	default:
		from, to = letters(args[0]), letters(args[1])
	}
	var table [utf8.RuneSelf]rune
	for c := range table {
		table[c] = rune(c)
	}
	for i := range len(from) {
		switch c := from[i]; {
		case c >= utf8.RuneSelf:
		case to == "":
			table[c] = -1
		default:
			table[c] = rune(to[min(i, len(to)-1)])
		}
	}
	return strings.Map(func(c rune) rune {
		if c >= utf8.RuneSelf {
			return c
		}
		return table[c]
	}, text)
}

// letters returns the bytes of a list of tr, as in a-z and [:upper:].
func letters(list string) string {
	list = unescape(classes.Replace(list), true)
	var b strings.Builder
	for i := 0; i < len(list); i++ {
		if i+2 < len(list) && list[i+1] == '-' {
			for c := int(list[i]); c <= int(list[i+2]); c++ {
				b.WriteByte(byte(c))
			}
			i += 2
			continue
		}
		b.WriteByte(list[i])
	}
	return b.String()
}

// classes are the names of lists of tr.
var classes = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:alpha:]", "A-Za-z", "[:digit:]", "0-9",
	"[:alnum:]", "0-9A-Za-z", "[:space:]", " \t-\r", "[:blank:]", " \t")

// commandLetters are the letters and digits, with which commands are written.
const commandLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// replacesLetters reports whether tr with these arguments replaces letters with other ones, so that its input can be a
// command that cannot be read. The same letters in upper case or lower case are not others.
func replacesLetters(args []string) bool {
	text := translated(args, commandLetters)
	return text != "" && len(text) == len(commandLetters) && !strings.EqualFold(text, commandLetters)
}
