// Package odd has types with every rule of encoding/json, for the tests of package export. The tests encode values of
// them, and validate the text against the schemas.
package odd

import (
	"encoding"
	"encoding/json"
	"errors"
	"math/big"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// Basics has every basic type.
type Basics struct {
	B   bool // B is a bool.
	I   int
	I8  int8
	I16 int16
	I32 int32
	I64 int64
	U   uint
	U8  uint8
	U16 uint16
	U32 uint32
	U64 uint64
	Up  uintptr
	F32 float32
	F64 float64
	S   string
	R   rune
	N   Named
}

// Named has a basic type.
type Named string

// Tags has names in tags, valid and invalid ones.
type Tags struct {
	Renamed   int `json:"renamed"`
	Dropped   int `json:"-"`
	Dash      int `json:"-,"`
	Invalid   int `json:"a\"b"`
	Spaces    int `json:"with spaces"`
	Größe     int `json:"größe"`
	Other     int `xml:"other"`
	Malformed int `json:malformed` // which encoding/json ignores
	hidden    int
	Func      func() `json:"-"`
}

// Omitted has the option omitempty at every kind.
type Omitted struct {
	B      bool           `json:",omitempty"`
	I      int            `json:"i,omitempty"`
	S      string         `json:",omitempty"`
	P      *int           `json:",omitempty"`
	PP     **int          `json:",omitempty"`
	Slice  []int          `json:",omitempty"`
	Map    map[string]int `json:",omitempty"`
	Any    any            `json:",omitempty"`
	Array  [2]int         `json:",omitempty"`
	Empty  [0]int         `json:",omitempty"`
	Struct Basics         `json:",omitempty"`
	Time   time.Time      `json:",omitempty"`
	List   List           `json:",omitempty"`
	Ptr    *Basics        `json:",omitempty"`
}

// List is a declared slice.
type List []int

// Zero has the option omitzero at every kind.
type Zero struct {
	B       bool           `json:",omitzero"`
	P       *int           `json:",omitzero"`
	Slice   []int          `json:",omitzero"`
	Map     map[string]int `json:",omitzero"`
	Any     any            `json:",omitzero"`
	Array   [2]int         `json:",omitzero"`
	Struct  Basics         `json:",omitzero"`
	Time    time.Time      `json:",omitzero"`
	Never   NeverZero      `json:",omitzero"`
	Pointer *NeverZero     `json:",omitzero"`
	Both    []int          `json:",omitempty,omitzero"`
}

// NeverZero is a slice that is never zero, so that null is written.
type NeverZero []int

// IsZero is asked by the option omitzero.
func (NeverZero) IsZero() bool { return false }

// Quoted has the option string.
type Quoted struct {
	B     bool        `json:",string"`
	I     int         `json:",string"`
	U     uint8       `json:",string"`
	F     float64     `json:",string"`
	S     string      `json:",string"`
	P     *int        `json:",string"`
	PP    **int       `json:",string"`
	PS    *string     `json:",string,omitempty"`
	N     Named       `json:",string"`
	Num   json.Number `json:",string"`
	Text  IntText     `json:",string"`
	Slice []int       `json:",string"`
}

// Embeds has embedded structs of all kinds.
type Embeds struct {
	Inner
	*Pointed
	inner
	List
	Named   `json:"named"`
	Basics  `json:"basics"`
	*Nested // of another embedded struct
	Stringer
}

// Stringer is an embedded interface, which is a member.
type Stringer interface{ String() string }

// Inner is embedded.
type Inner struct {
	// X is a comment of an embedded field.
	X int
}

// Pointed is embedded by pointer.
type Pointed struct {
	Y int
	Z string `json:"z"`
}

type inner struct{ W []int }

// Nested embeds another struct.
type Nested struct {
	*Deep
	Level int
}

// Deep is embedded twice.
type Deep struct{ Depth *int }

// Conflicts has fields with the same name.
type Conflicts struct {
	Left
	Right
	Own    int
	Tagged int `json:"Wins"`
}

// Left and Right share names.
type Left struct {
	Diamond
	Same   int
	Own    string
	Third  int `json:"third"`
	Wins   int
	Nested bool
}

// Right and Left share names.
type Right struct {
	Diamond
	Same   string
	Third  string
	Fourth string `json:"third"`
}

// Diamond is embedded by two embedded structs, so that its fields hide each other.
type Diamond struct{ Hidden int }

// TagWins has two fields of one name, one of them by a tag.
type TagWins struct {
	WithTag
	WithoutTag
}

// WithTag names a field by a tag.
type WithTag struct {
	A int `json:"Name"`
}

// WithoutTag has the field of that name.
type WithoutTag struct{ Name string }

// Maps has maps with every kind of key.
type Maps struct {
	Strings map[string]int
	Named   map[Named]*int
	Ints    map[int8]string
	Uints   map[uint16]bool
	Text    map[IntText]int
	Keys    map[Point]int
	Ifaces  map[string]any
	Nested  map[string]map[int]Inner
	Values  map[string]TextPointer
}

// Bytes has slices and arrays of bytes.
type Bytes struct {
	Plain  []byte
	Named  Blob
	Octets []Octet
	Array  [3]byte
	Text   []TextOctet
	Omit   []byte `json:",omitempty"`
}

// Blob is a declared slice of bytes.
type Blob []byte

// Octet is a declared byte.
type Octet byte

// TextOctet is a byte that encodes itself, so that a slice of it is an array.
type TextOctet byte

// MarshalText returns a number.
func (o TextOctet) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(o), 10), nil }

// UnmarshalText reads a number.
func (o *TextOctet) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	*o = TextOctet(n)
	return err
}

// Raws has JSON that is kept.
type Raws struct {
	Raw     json.RawMessage
	Pointer *json.RawMessage
	Slice   []json.RawMessage
	Omit    json.RawMessage `json:",omitempty"`
	Number  json.Number
}

// Times has times and durations.
type Times struct {
	Time     time.Time
	Pointer  *time.Time
	Duration time.Duration // since then
	Slice    []time.Time
	ByName   map[string]time.Time
}

// Recursive refers to itself in every way.
type Recursive struct {
	Value    int
	Next     *Recursive           `json:",omitempty"`
	Children []Recursive          `json:",omitempty"`
	ByName   map[string]Recursive `json:",omitempty"`
	Tree     Tree                 `json:",omitempty"`
	Map      MapTree              `json:",omitempty"`
}

// Tree is a slice of itself.
type Tree []Tree

// MapTree is a map of itself.
type MapTree map[string]MapTree

// Self is a pointer to itself.
type Self *Self

// Box is a generic type.
type Box[T any] struct {
	Value  T
	Others []T
	Next   *Box[T] `json:",omitempty"`
}

// Pair has two type parameters.
type Pair[K comparable, V any] struct {
	Key   K
	Value V
	Map   map[K]V
}

// Generics has instances of generic types.
type Generics struct {
	Ints    Box[int]
	Strings Box[string]
	Boxes   Box[Box[int]]
	Structs Box[struct{ A int }]
	Pairs   Pair[string, *Inner]
	Times   Box[time.Time]
	Alias   Alias
}

// Alias is another name for an instance.
type Alias = Box[Named]

// Point is a struct that is a key of maps.
type Point struct{ X, Y int8 }

// MarshalText joins the coordinates.
func (p Point) MarshalText() ([]byte, error) {
	return []byte(strconv.Itoa(int(p.X)) + "/" + strconv.Itoa(int(p.Y))), nil
}

// IntText is an integer that encodes itself as text.
type IntText int

// MarshalText returns the number with a sign.
func (i IntText) MarshalText() ([]byte, error) { return []byte("n" + strconv.Itoa(int(i))), nil }

// TextPointer encodes itself as text if its address is known.
type TextPointer struct{ A int }

// MarshalText returns the number.
func (p *TextPointer) MarshalText() ([]byte, error) {
	return strconv.AppendInt(nil, int64(p.A), 10), nil
}

// JSONPointer encodes itself if its address is known.
type JSONPointer struct{ A int }

// MarshalJSON returns an array.
func (p *JSONPointer) MarshalJSON() ([]byte, error) {
	return []byte("[" + strconv.Itoa(p.A) + "]"), nil
}

// JSONValue encodes itself as a number or as null.
type JSONValue struct{ A int }

// MarshalJSON returns a number or null.
func (v JSONValue) MarshalJSON() ([]byte, error) {
	if v.A == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(v.A), 10), nil
}

// Marshalers has types that encode themselves, in every position.
type Marshalers struct {
	Text      Point
	TextP     *Point
	Texts     []Point
	TextA     [2]Point
	Pointer   TextPointer
	PointerP  *TextPointer
	Pointers  []TextPointer
	PointerA  [1]TextPointer
	PointerM  map[string]TextPointer
	JSON      JSONValue
	JSONP     *JSONValue `json:",omitempty"`
	JSONs     []JSONValue
	JSONM     map[string]JSONPointer
	JSONPs    []JSONPointer
	JSONPP    *JSONPointer
	Embedded  EmbedsMarshaler
	Addr      netip.Addr
	Int       *big.Int
	URL       url.URL
	Encoded   Encoded
	EncodedP  *Encoded
	Encodeds  []Encoded `json:",omitempty"`
	Sometimes Sometimes
}

// EmbedsMarshaler has the method of an embedded type.
type EmbedsMarshaler struct {
	JSONValue
	B int
}

// Encoded encodes itself as another struct.
type Encoded struct {
	ID   string // of the value
	Args map[string]string
}

type encoded struct {
	ID   string            `json:"id"`
	Args map[string]string `json:"args,omitempty"`
	Err  string            `json:"err,omitempty"` // why it is wrong
}

// MarshalJSON encodes the value as an object with id and args.
func (e Encoded) MarshalJSON() ([]byte, error) {
	if e.ID == "\x00" {
		return nil, errors.New("no ID")
	}
	check := func() (int, error) { return 1, nil }
	if _, err := check(); err != nil {
		return json.Marshal(&encoded{Err: err.Error()})
	}
	return json.Marshal(encoded{ID: e.ID, Args: e.Args})
}

// Sometimes encodes itself as one of two types, so that anything is possible.
type Sometimes struct{ A int }

// MarshalJSON encodes a struct or a number.
func (s Sometimes) MarshalJSON() ([]byte, error) {
	if s.A == 0 {
		return json.Marshal(encoded{})
	}
	return json.Marshal(s.A)
}

// Interfaces has interface types.
type Interfaces struct {
	Any   any
	Error error
	Text  encoding.TextMarshaler
	JSON  json.Marshaler
	Omit  any `json:",omitempty"`
}

// Shapes has types without names, and pointers.
type Shapes struct {
	Struct struct {
		A int `json:"a"` // A is in a struct without a name.
		B struct{ C []string }
	}
	Array   [2]struct{ D *bool }
	Matrix  [][]float64
	Pointer **int
	Slices  *[]int
	Self    Self // which encoding/json cannot decode: it follows the pointers forever
	Nothing struct{}
	Zero    [0]int
}
