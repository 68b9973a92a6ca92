package shell

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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

const (
	maxText   = 1 << 20 // bytes of a text that is parsed
	maxFrames = 4000    // of the stack while the parser reads; about 500 nested parentheses
	chunk     = 512     // bytes that the parser reads at a time
)

var errTooComplex = errors.New("the command is nested too deeply or too large to be checked")

// A source supplies a text to the parser. The parser is recursive, and takes quadratic time for some deeply nested
// texts. It reads the text within its recursion, so the depth of the stack during a read is the depth of the text.
type source struct {
	text string
	at   int
}

func (s *source) Read(p []byte) (int, error) {
	if s.at >= len(s.text) {
		return 0, io.EOF
	}
	var frame [1]uintptr
	if s.at > 0 && runtime.Callers(maxFrames, frame[:]) > 0 {
		return 0, errTooComplex
	}
	n := copy(p[:min(len(p), chunk)], s.text[s.at:])
	s.at += n
	return n, nil
}

// parse parses a text in one language. Together with an error, it returns the complete statements before the error. It
// returns errTooComplex if the text is too large or too deeply nested.
func parse(text string, lang syntax.LangVariant) (file *syntax.File, err error) {
	if len(text) > maxText {
		return nil, errTooComplex
	}
	defer func() {
		if v := recover(); v != nil {
			file, err = nil, fmt.Errorf("the parser panicked: %v", v)
		}
	}()
	return syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(&source{text: text}, "")
}

// A misread is a byte that the parser reads differently from a shell, and a byte that both read like the shell reads
// the original.
type misread struct {
	at int
	as byte
}

// misreads returns the differences in the comments of a file. For example, the parser sees a comment in $(echo "a"#b),
// and continues a comment that ends in a backslash on the next line.
func misreads(file *syntax.File, text string) (found []misread) {
	if file == nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		c, ok := node.(*syntax.Comment)
		if !ok {
			return true
		}
		at := int(c.Hash.Offset())
		if at >= len(text) || text[at] != '#' {
			return true
		}
		if at > 0 && !strings.ContainsRune(" \t\n;&|()", rune(text[at-1])) || strings.HasSuffix(text[:at], "\\\n") {
			found = append(found, misread{at, '_'})
		}
		end := strings.IndexByte(text[at:], '\n')
		if end > 0 && text[at+end-1] == '\\' {
			found = append(found, misread{at + end - 1, ' '})
		}
		return true
	})
	return found
}

var unclosedHereDocument = regexp.MustCompile("unclosed here-document [`\"](.*)[`\"]")

// parseLeniently is like parse for texts that may be malformed. It corrects the misreadings of the parser, and closes a
// here-document like a shell does. It returns errTooComplex as the only error; ok reports whether the whole text has
// been parsed.
func parseLeniently(text string, lang syntax.LangVariant) (file *syntax.File, ok bool, err error) {
	for range 10 {
		file, err = parse(text, lang)
		if errors.Is(err, errTooComplex) {
			return nil, false, errTooComplex
		}
		if wrong := misreads(file, text); len(wrong) > 0 {
			corrected := []byte(text)
			for _, m := range wrong {
				corrected[m.at] = m.as
			}
			text = string(corrected)
			continue
		}
		if err != nil {
			if m := unclosedHereDocument.FindStringSubmatch(err.Error()); m != nil {
				text += "\n" + m[1] + "\n"
				continue
			}
		}
		return file, err == nil, nil
	}
	return nil, false, errTooComplex
}
