package tiktoken

import (
	"unicode"
	"unicode/utf8"
)

const (
	maxRun = 512 // bytes without a boundary that are encoded at once
	margin = 2   // the most tokens that one of many thousand random cuts in such a run removed
)

// CountText returns the number of tokens of a text. Markers such as <|endoftext|> count as text.
//
// The time grows with the length of any text. Encoders merge the bytes of a word pair by pair, which takes the square
// of its length: a megabyte of letters would take many minutes. A run of more than 512 bytes without a space or a mark
// after a letter or digit is therefore encoded in parts. The count of such a run is an upper bound: it is too high by
// at most 5 tokens for each part of 512 bytes.
func (c *Counter) CountText(text string) int {
	sum, start, run := 0, 0, 0
	word := false // the last character is a letter or a digit
	for i, r := range text {
		switch {
		case word && endsWord(r):
			run = i
		case i-run >= maxRun:
			sum += c.count(text[start:i]) + margin
			start, run = i, i
		}
		word = isWord(r)
	}
	return sum + c.count(text[start:])
}

// count encodes a text that has no long run.
func (c *Counter) count(text string) int {
	if text == "" {
		return 0
	}
	n, err := c.codec.Count(text)
	if err != nil {
		return len(text) // a token has at least one byte
	}
	return n
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// endsWord reports whether no token has both a letter or digit and, right after it, the character. An apostrophe does
// not, because of words such as "don't".
func endsWord(r rune) bool {
	return r != '\'' && (unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r))
}
