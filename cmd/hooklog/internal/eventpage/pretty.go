package eventpage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxIndent bounds the indentation. A payload of ten thousand nested arrays would need a hundred million blanks.
const maxIndent = 40

// Pretty returns a JSON value for people: one value per line, in the order of the text. Characters that encoding/json
// escapes only for HTML appear as themselves. A string with line breaks continues after each of them on a new line:
//
//	"content": "first\n
//	  second"
//
// The text ends with a line break. A text that is not JSON is returned as it is.
func Pretty(value json.RawMessage) string {
	if !json.Valid(value) {
		return strings.ToValidUTF8(string(value), "\uFFFD") + "\n"
	}
	p := printer{dec: json.NewDecoder(bytes.NewReader(value))}
	p.dec.UseNumber()
	p.value(0)
	p.b.WriteByte('\n')
	return p.b.String()
}

// A printer prints a valid JSON text.
type printer struct {
	dec *json.Decoder
	b   strings.Builder
}

func (p *printer) value(depth int) {
	token, err := p.dec.Token()
	if err != nil {
		return
	}
	switch v := token.(type) {
	case json.Delim:
		p.list(v, depth)
	case string:
		p.text(v, depth)
	case nil:
		p.b.WriteString("null")
	default:
		fmt.Fprint(&p.b, v) // a json.Number or a bool
	}
}

// list prints an object or an array after its opening delimiter.
func (p *printer) list(open json.Delim, depth int) {
	p.b.WriteByte(byte(open))
	more := p.dec.More()
	for first := true; p.dec.More(); first = false {
		if !first {
			p.b.WriteByte(',')
		}
		p.line(depth + 1)
		if open == '{' {
			key, err := p.dec.Token()
			if err != nil {
				return
			}
			name, _ := key.(string)
			p.text(name, depth+1)
			p.b.WriteString(": ")
		}
		p.value(depth + 1)
	}
	if more {
		p.line(depth)
	}
	end, err := p.dec.Token()
	if delim, ok := end.(json.Delim); ok && err == nil {
		p.b.WriteByte(byte(delim))
	}
}

func (p *printer) line(depth int) {
	p.b.WriteByte('\n')
	for range min(depth, maxIndent) {
		p.b.WriteString("  ")
	}
}

// text prints a string.
func (p *printer) text(s string, depth int) {
	p.b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			p.b.WriteByte('\\')
			p.b.WriteRune(r)
		case r == '\n':
			p.b.WriteString(`\n`)
			if i+1 < len(s) {
				p.line(depth + 1)
			}
		case r == '\t':
			p.b.WriteString(`\t`)
		case r == '\r':
			p.b.WriteString(`\r`)
		case r < ' ':
			fmt.Fprintf(&p.b, `\u%04x`, r)
		default:
			p.b.WriteRune(r)
		}
	}
	p.b.WriteByte('"')
}
