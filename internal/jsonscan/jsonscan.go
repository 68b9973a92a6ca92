// Package jsonscan reads JSON without decoding it. Use it if the text itself is enough, for example to check the
// type of a value. It takes a tenth of the time of encoding/json, and allocates only to decode strings with escapes.
//
// Start reading at [Scanner].
package jsonscan

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// A Scanner reads Data from the offset At. Each method reads one item and moves At after it. If a method reports
// false, Data has something else there, and At is undefined.
type Scanner struct {
	Data []byte
	At   int
}

// Peek returns the next byte, 0 at the end. No JSON value begins with a 0.
func (s *Scanner) Peek() byte {
	if s.At == len(s.Data) {
		return 0
	}
	return s.Data[s.At]
}

// Blank reads blanks, if there are any.
func (s *Scanner) Blank() {
	for s.At < len(s.Data) {
		switch s.Data[s.At] {
		case ' ', '\t', '\r', '\n':
			s.At++
		default:
			return
		}
	}
}

// Next reads the byte c and the blanks after it. If another byte comes next, it reads nothing.
func (s *Scanner) Next(c byte) bool {
	if s.Peek() != c || c == 0 {
		return false
	}
	s.At++
	s.Blank()
	return true
}

// Word reads true, false or null.
func (s *Scanner) Word(text string) bool {
	if len(s.Data)-s.At < len(text) || string(s.Data[s.At:s.At+len(text)]) != text {
		return false
	}
	s.At += len(text)
	return true
}

// maxDepth bounds the nesting of a value that Value reads.
const maxDepth = 1000

// Value reads any value and returns its text. It reports false for a value of more than 1,000 levels.
func (s *Scanner) Value() (raw []byte, ok bool) {
	begin := s.At
	ok = s.value(0)
	return bytes.TrimRight(s.Data[begin:s.At], " \t\r\n"), ok // Next reads the blanks after an object
}

func (s *Scanner) value(depth int) bool {
	switch s.Peek() {
	case '{':
		return depth < maxDepth && s.Members(func([]byte) bool { return s.value(depth + 1) })
	case '[':
		return depth < maxDepth && s.Items(func() bool { return s.value(depth + 1) })
	case '"':
		_, _, ok := s.Text()
		return ok
	}
	_, ok := s.Literal()
	return ok
}

// Members reads an object and the blanks after it. It calls read for each member, with the decoded key. The function
// must read the value, and reports whether it could.
func (s *Scanner) Members(read func(key []byte) bool) bool {
	if !s.Next('{') {
		return false
	}
	for first := true; !s.Next('}'); first = false {
		if !first && !s.Next(',') {
			return false
		}
		key, ok := s.Decoded()
		s.Blank()
		if !ok || !s.Next(':') || !read(key) {
			return false
		}
		s.Blank()
	}
	return true
}

// Items reads an array and the blanks after it. It calls read for each item. The function must read the item, and
// reports whether it could.
func (s *Scanner) Items(read func() bool) bool {
	if !s.Next('[') {
		return false
	}
	for first := true; !s.Next(']'); first = false {
		if !first && !s.Next(',') || !read() {
			return false
		}
		s.Blank()
	}
	return true
}

// Literal reads a number, true, false or null, and returns its text.
func (s *Scanner) Literal() (raw []byte, ok bool) {
	begin := s.At
	switch s.Peek() {
	case 't':
		ok = s.Word("true")
	case 'f':
		ok = s.Word("false")
	case 'n':
		ok = s.Word("null")
	default:
		_, _, ok = s.Number()
	}
	return s.Data[begin:s.At], ok
}

// Decoded reads a string and returns it as encoding/json decodes it. The result may be a part of Data.
func (s *Scanner) Decoded() (text []byte, ok bool) {
	begin := s.At
	raw, plain, ok := s.Text()
	if !ok || plain {
		return raw, ok
	}
	var decoded string
	err := json.Unmarshal(s.Data[begin:s.At], &decoded)
	return []byte(decoded), err == nil
}

// Text reads a string and returns the text between its quotes. The text is plain if it has neither escapes nor
// bytes beyond ASCII, so that it decodes to itself.
func (s *Scanner) Text() (raw []byte, plain, ok bool) {
	if s.Peek() != '"' {
		return nil, false, false
	}
	begin := s.At + 1
	plain = true
	quote := s.At // the next quote, once it is found
	for i := begin; ; {
		if quote < i {
			n := bytes.IndexByte(s.Data[i:], '"')
			if n < 0 {
				return nil, false, false
			}
			quote = i + n
		}
		part := s.Data[i:quote]
		slash := bytes.IndexByte(part, '\\')
		if slash >= 0 {
			part = part[:slash]
		}
		switch {
		case ordinary(part):
		case hasControl(part):
			return nil, false, false
		default:
			plain = false
		}
		if slash < 0 {
			s.At = quote + 1
			return s.Data[begin:quote], plain, true
		}
		plain = false
		n := escape(s.Data[i+slash:])
		if n == 0 {
			return nil, false, false
		}
		i += slash + n
	}
}

// ordinary reports whether data is ASCII without control characters. It tests eight bytes in one word: subtracting ' '
// from a byte below ' ' sets its highest bit. A byte borrows from the next one only if it is below ' ' itself.
func ordinary(data []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var found uint64
	for ; len(data) >= 64; data = data[64:] { // most texts are long
		a, b := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		c, d := binary.LittleEndian.Uint64(data[16:]), binary.LittleEndian.Uint64(data[24:])
		e, f := binary.LittleEndian.Uint64(data[32:]), binary.LittleEndian.Uint64(data[40:])
		g, h := binary.LittleEndian.Uint64(data[48:]), binary.LittleEndian.Uint64(data[56:])
		found |= (a - ones*' ') | a | (b - ones*' ') | b | (c - ones*' ') | c | (d - ones*' ') | d |
			(e - ones*' ') | e | (f - ones*' ') | f | (g - ones*' ') | g | (h - ones*' ') | h
	}
	for ; len(data) >= 8; data = data[8:] {
		w := binary.LittleEndian.Uint64(data)
		found |= (w - ones*' ') | w
	}
	for _, c := range data {
		if c < ' ' || c >= 0x80 {
			return false
		}
	}
	return found&highs == 0
}

func hasControl(data []byte) bool {
	for _, c := range data {
		if c < ' ' {
			return true
		}
	}
	return false
}

// escape returns the length of the escape sequence at the start of data, or 0 if it is invalid.
func escape(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(data) < 6 {
			return 0
		}
		for _, c := range data[2:6] {
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// Number reads a number and returns its text, and whether it has neither a fraction nor an exponent.
func (s *Scanner) Number() (raw []byte, whole, ok bool) {
	begin := s.At
	if s.Peek() == '-' {
		s.At++
	}
	zero := s.Peek() == '0'
	if n := s.digits(); n == 0 || zero && n > 1 {
		return nil, false, false
	}
	whole = true
	if s.Peek() == '.' {
		whole = false
		s.At++
		if s.digits() == 0 {
			return nil, false, false
		}
	}
	if c := s.Peek(); c == 'e' || c == 'E' {
		whole = false
		s.At++
		if c := s.Peek(); c == '+' || c == '-' {
			s.At++
		}
		if s.digits() == 0 {
			return nil, false, false
		}
	}
	return s.Data[begin:s.At], whole, true
}

func (s *Scanner) digits() (n int) {
	for c := s.Peek(); '0' <= c && c <= '9'; c = s.Peek() {
		s.At++
		n++
	}
	return n
}
