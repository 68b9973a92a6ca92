package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// The limits of a module. wazero reserves memory for the counts that a module announces before it reads on: a file of
// 20 bytes that announces four billion functions, or a function with four billion variables, would end this process.
const (
	maxModule    = 64 << 20 // bytes
	maxFunction  = 1 << 20  // bytes of one function
	maxItems     = 200_000  // functions, types, imports, ...; entries of all tables
	maxLocals    = 50_000   // variables of one function
	maxSignature = 1_000    // parameters or results of one function
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// strip reads a module up to the instructions of its functions, and returns it without the sections that have no
// effect. A module that exceeds a limit is an error.
func strip(module []byte) ([]byte, error) {
	if len(module) > maxModule {
		return nil, fmt.Errorf("the module has %d bytes, more than %d", len(module), maxModule)
	}
	if !bytes.HasPrefix(module, header) {
		return nil, errors.New("the file is not a WebAssembly module of version 1")
	}
	r := &reader{rest: module[len(header):]}
	kept := slices.Clone(header)
	entries := uint64(0)
	for len(r.rest) > 0 && r.err == nil {
		section := r.rest
		id := r.byte()
		content := &reader{rest: r.take(r.uint32()), entries: entries}
		if r.err != nil || id == 0 {
			continue
		}
		content.section(id)
		if content.err == nil && len(content.rest) > 0 {
			content.fail("it has %d bytes too many", len(content.rest))
		}
		if content.err != nil {
			return nil, fmt.Errorf("the module is not accepted: section %d: %w", id, content.err)
		}
		entries = content.entries
		kept = append(kept, section[:len(section)-len(r.rest)]...)
	}
	if r.err != nil {
		return nil, fmt.Errorf("the module is not accepted: %w", r.err)
	}
	return kept, nil
}

// A reader reads the numbers of a module. After an error, all numbers are 0.
type reader struct {
	rest    []byte
	entries uint64 // of all tables
	err     error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail("it ends too early")
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.rest)) {
		r.fail("it ends too early")
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// leb skips a number in LEB128 of at most so many bytes, and returns its lower 64 bits without their sign.
func (r *reader) leb(most int) (n uint64) {
	for i := range most {
		b := r.byte()
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return n
		}
	}
	r.fail("a number is too long")
	return 0
}

func (r *reader) uint32() uint32 {
	n := r.leb(5)
	if n > 1<<32-1 {
		r.fail("a number is too large")
		return 0
	}
	return uint32(n)
}

// each reads a list: its length, and each element with a function.
func (r *reader) each(most int, element func()) {
	n := r.uint32()
	if uint64(n) > uint64(most) {
		r.fail("a list has %d elements, more than %d", n, most)
	}
	for i := uint32(0); i < n && r.err == nil; i++ {
		element()
	}
}

// section reads the content of a section.
func (r *reader) section(id byte) {
	switch id {
	case 8, 12: // the function that starts the module; the number of data segments
		if n := r.uint32(); id == 12 && n > maxItems {
			r.fail("it announces %d segments", n)
		}
		return
	}
	element := map[byte]func(){1: r.signature, 2: r.imported, 3: r.index, 4: r.table, 5: r.memory, 6: r.global,
		7: r.export, 9: r.elements, 10: r.function, 11: r.data}[id]
	if element == nil {
		r.fail("sections of this kind are not supported")
		return
	}
	r.each(maxItems, element)
}

func (r *reader) index() { r.uint32() }
func (r *reader) name()  { r.take(r.uint32()) }

// number reads the type of a number.
func (r *reader) number() {
	if b := r.byte(); b < 0x7c || b > 0x7f {
		r.fail("the type %#x is not that of a number", b)
	}
}

func (r *reader) signature() {
	if form := r.byte(); form != 0x60 {
		r.fail("the type %#x is not that of a function", form)
	}
	r.each(maxSignature, r.number)
	r.each(maxSignature, r.number)
}

func (r *reader) imported() {
	r.name()
	r.name()
	if kind := r.byte(); kind != 0 {
		r.fail("it imports something that is not a function")
	}
	r.index()
}

func (r *reader) export() {
	r.name()
	r.byte()
	r.index()
}

// memory reads the size of a memory, which wazero compares with the limit.
func (r *reader) memory() { r.size() }

func (r *reader) size() (least uint32) {
	flag := r.byte()
	least = r.uint32()
	switch flag {
	case 0:
	case 1:
		r.uint32()
	default:
		r.fail("a size of the kind %d is not supported", flag)
	}
	return least
}

func (r *reader) table() {
	if kind := r.byte(); kind != 0x70 {
		r.fail("a table has something else than functions")
	}
	r.count(uint64(r.size()))
}

// count adds to the entries of tables.
func (r *reader) count(entries uint64) {
	if r.entries += entries; r.entries > maxItems {
		r.fail("its tables have more than %d entries", maxItems)
	}
}

func (r *reader) global() {
	r.number()
	r.byte()
	r.constant()
}

// constant reads an expression that is a constant.
func (r *reader) constant() {
	switch op := r.byte(); op {
	case 0x41: // i32.const
		r.leb(5)
	case 0x42: // i64.const
		r.leb(10)
	case 0x43: // f32.const
		r.take(4)
	case 0x44: // f64.const
		r.take(8)
	case 0x23: // global.get
		r.index()
	default:
		r.fail("the instruction %#x is not a constant", op)
	}
	if end := r.byte(); end != 0x0b {
		r.fail("a constant has several instructions")
	}
}

// elements reads entries of a table.
func (r *reader) elements() {
	kind := r.uint32()
	if kind > 3 {
		r.fail("elements of the kind %d are not supported", kind)
	}
	if kind == 2 {
		r.index()
	}
	if kind == 0 || kind == 2 {
		r.constant()
	}
	if kind != 0 {
		r.byte()
	}
	r.each(maxItems, func() {
		r.index()
		r.count(1)
	})
}

func (r *reader) function() {
	size := r.uint32()
	if size > maxFunction {
		r.fail("a function has %d bytes, more than %d", size, maxFunction)
	}
	body := &reader{rest: r.take(size)}
	locals := uint64(0)
	body.each(maxLocals, func() {
		if locals += uint64(body.uint32()); locals > maxLocals {
			body.fail("a function has more than %d variables", maxLocals)
		}
		body.number()
	})
	if body.err != nil {
		r.fail("%w", body.err)
	}
}

func (r *reader) data() {
	kind := r.uint32()
	if kind > 2 {
		r.fail("data of the kind %d is not supported", kind)
	}
	if kind == 2 {
		r.index()
	}
	if kind != 1 {
		r.constant()
	}
	r.take(r.uint32())
}
