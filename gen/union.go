package gen

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"unicode/utf8"
)

// Go has no A | B in parameter and result lists, but people who know sum types write it. The parser fails there. So
// hookgen blanks the union out, reports it as a mistake of its own, and parses the rest of the file.

// blankUnions returns text with the "| B" of each A | B at one of the offsets overwritten by blanks, and the offsets
// that it changed. It changes only unions directly in an interface. The caller keeps the unchanged text.
func blankUnions(text []byte, offsets []int) ([]byte, []int) {
	var blanked []int
	tokens := tokenize(text)
	var braces []bool // of the open braces: does it open an interface
	for i, t := range tokens {
		switch t.kind {
		case token.LBRACE:
			braces = append(braces, i > 0 && tokens[i-1].kind == token.INTERFACE)
		case token.RBRACE:
			if len(braces) > 0 {
				braces = braces[:len(braces)-1]
			}
		case token.OR:
			inside := len(braces) > 0 && braces[len(braces)-1]
			if inside && slices.Contains(offsets, t.offset) {
				if blanked == nil {
					text = slices.Clone(text)
				}
				blank(text[t.offset:elementEnd(tokens[i:])])
				blanked = append(blanked, t.offset)
			}
		}
	}
	return text, blanked
}

// elementEnd returns the offset where the list element that contains the first token ends.
func elementEnd(tokens []lexeme) int {
	depth, end := 0, tokens[0].end
	for _, t := range tokens {
		switch t.kind {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth < 0 {
				return end
			}
		case token.COMMA, token.SEMICOLON:
			if depth == 0 {
				return end
			}
		}
		end = t.end
	}
	return end
}

// blank overwrites text with blanks and keeps its line ends.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// A lexeme is a token and its offsets in the text.
type lexeme struct {
	kind        token.Token
	offset, end int
}

// tokenize returns the tokens of text without comments. It never fails, even if the text is not valid Go.
func tokenize(text []byte) []lexeme {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	var tokens []lexeme
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return tokens
		}
		offset := file.Offset(pos)
		end := offset + len(literal)
		switch {
		case literal == "":
			end = offset + len(kind.String())
		case kind == token.ILLEGAL: // one character; for invalid bytes, the literal is the replacement character
			_, size := utf8.DecodeRune(text[offset:])
			end = offset + size
		}
		tokens = append(tokens, lexeme{kind, offset, min(end, len(text))})
	}
}

// commentsOf returns the comments of a text that may not be valid Go. Their positions are in file.
func commentsOf(file *token.File, text []byte) []*ast.Comment {
	own := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(own, text, nil, scanner.ScanComments)
	var comments []*ast.Comment
	for {
		pos, kind, literal := s.Scan()
		switch kind {
		case token.EOF:
			return comments
		case token.COMMENT:
			comments = append(comments, &ast.Comment{Slash: file.Pos(own.Offset(pos)), Text: literal})
		}
	}
}
