package wasm_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A tiny guest is a module that the tests assemble. The bodies are instructions without the end.
type tiny struct {
	imports                      []string // functions of WASI, or of other modules with a dot
	initialize                   []byte   // nil for none
	buffer, describe, call       []byte
	pages                        uint64
	locals                       uint64 // of call
	table                        uint64 // entries
	description, reply, sections string // sections are added after the header
}

// The types of functions.
var types = []string{"\x00\x00", "\x01\x7f\x01\x7f", "\x00\x01\x7e", "\x04\x7f\x7f\x7f\x7f\x01\x7f"}

// The addresses of the texts.
const (
	descriptionAt = 16
	replyAt       = 32 << 10
	requestAt     = 48 << 10
)

// newTiny returns a guest that continues at the point of a spec. Its functions may be changed.
func newTiny(spec, point string) tiny {
	g := tiny{pages: 1, reply: `{"decision":"continue"}`}
	g.description = fmt.Sprintf(`{"protocol":1,"spec":%q,"points":[%q]}`, spec, point)
	g.buffer = i32(requestAt)
	return g
}

// bytes returns the module.
func (g tiny) bytes() []byte {
	if g.describe == nil {
		g.describe = packed(descriptionAt, len(g.description))
	}
	if g.call == nil {
		g.call = packed(replyAt, len(g.reply))
	}
	var imports []string
	for _, name := range g.imports {
		module, function, found := strings.Cut(name, ".")
		if !found {
			module, function = "wasi_snapshot_preview1", name
		}
		imports = append(imports, text(module)+text(function)+"\x00\x03")
	}
	bodies := [][]byte{g.buffer, g.describe, g.call}
	functions := []string{"\x01", "\x02", "\x02"}
	names := []string{"hookgen_buffer", "hookgen_describe", "hookgen_call"}
	if g.initialize != nil {
		bodies, functions, names = append(bodies, g.initialize), append(functions, "\x00"), append(names, "_initialize")
	}
	exports := []string{text("memory") + "\x02\x00"}
	var code []string
	for i, name := range names {
		exports = append(exports, text(name)+"\x00"+leb(uint64(i+len(imports))))
		locals := "\x00"
		if name == "hookgen_call" && g.locals > 0 {
			locals = "\x01" + leb(g.locals) + "\x7f"
		}
		code = append(code, text(locals+string(bodies[i])+"\x0b"))
	}
	var signatures []string
	for _, t := range types {
		signatures = append(signatures, "\x60"+t)
	}
	data := []string{
		"\x00" + string(i32(descriptionAt)) + "\x0b" + text(g.description),
		"\x00" + string(i32(replyAt)) + "\x0b" + text(g.reply),
	}
	m := "\x00asm\x01\x00\x00\x00" + g.sections + section(1, signatures...)
	if len(imports) > 0 {
		m += section(2, imports...)
	}
	m += section(3, functions...)
	if g.table > 0 {
		m += section(4, "\x70\x00"+leb(g.table))
	}
	m += section(5, "\x00"+leb(g.pages)) + section(7, exports...) + section(10, code...) + section(11, data...)
	return []byte(m)
}

func leb(n uint64) string { return string(binary.AppendUvarint(nil, n)) }

func text(s string) string { return leb(uint64(len(s))) + s }

func section(id byte, items ...string) string {
	content := leb(uint64(len(items)))
	for _, item := range items {
		content += item
	}
	return string([]byte{id}) + text(content)
}

// i32 and i64 push a constant.
func i32(n int32) []byte { return constant(0x41, int64(n)) }
func i64(n int64) []byte { return constant(0x42, n) }

func constant(op byte, n int64) []byte {
	code := []byte{op}
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(code, b)
		}
		code = append(code, b|0x80)
	}
}

// packed pushes the address and the size of a text.
func packed(at, size int) []byte { return i64(int64(at)<<32 | int64(size)) }

// forever repeats instructions.
func forever(code ...byte) []byte {
	return slices.Concat([]byte{0x03, 0x40}, code, []byte{0x0c, 0x00, 0x0b, 0x00})
}

// calling calls an imported function with four arguments, and drops the result.
func calling(function byte, args ...int32) (code []byte) {
	for _, a := range args {
		code = append(code, i32(a)...)
	}
	return append(code, 0x10, function, 0x1a)
}
