package hooktest

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// A payload is a value to fire a point with.
type payload struct {
	name  string // for messages
	value reflect.Value
}

// payloads returns the payloads for a point: those of the option Payloads if any fits, else the given fillings.
func (c *checker) payloads(p hookkit.AnyPoint, made ...filling) []payload {
	want := payloadType(p)
	var all []payload
	for i, value := range c.given {
		if fits(value, want) {
			v := reflect.New(want).Elem()
			v.Set(reflect.ValueOf(value))
			all = append(all, payload{fmt.Sprintf("payload %d of Payloads", i), v})
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, f := range made {
		all = append(all, f.payload(p))
	}
	return all
}

func payloadType(p hookkit.AnyPoint) reflect.Type { return reflect.TypeOf(p.New()).Elem() }

func fits(value any, want reflect.Type) bool {
	return value != nil && reflect.TypeOf(value).AssignableTo(want)
}

// A filling says what made payloads contain. It makes the same value each time.
type filling struct {
	name   string
	zero   bool    // nothing
	text   string  // of every string
	bytes  string  // of every []byte
	whole  int64   // of every integer, or the nearest that it can hold
	real   float64 // of every floating-point number
	length int     // of slices and maps; those inside others have at most two elements, unless unsorted
	hollow bool    // the elements of slices and maps are zero

	unsorted bool // the elements of slices differ, so that a hook which sorts them changes the payload
}

var ordinary = filling{name: "ordinary values", text: "look", bytes: `{"at":"a","n":1}`, whole: 3, real: 0.5, length: 2}

var fillings = []filling{
	ordinary,
	{name: "zero values", zero: true},
	ordinary.but("empty texts and lists", func(f *filling) { f.text, f.bytes, f.length = "", "", 0 }),
	ordinary.but("nil elements", func(f *filling) { f.hollow = true }),
	ordinary.but("unsorted lists", func(f *filling) { f.unsorted, f.length = true, len(unsorted) }),
	ordinary.but("long lists", func(f *filling) { f.length = 1000 }),
	ordinary.but("long texts", func(f *filling) {
		f.text, f.bytes = strings.Repeat("ä long text ", 2000), `{"text":"`+strings.Repeat("x", 20_000)+`"}`
	}),
	ordinary.but("invalid UTF-8", func(f *filling) { f.text, f.bytes = "a\xff\xfe\xc3z", "{\"a\":\"\xff\"}" }),
	ordinary.but("invalid JSON", func(f *filling) { f.text, f.bytes = `{"broken": [`, `{"broken": [` }),
	ordinary.but("deep JSON", func(f *filling) {
		f.text = strings.Repeat(`{"a":[`, 500) + strings.Repeat(`]}`, 500)
		f.bytes = f.text
	}),
	ordinary.but("control characters", func(f *filling) {
		f.text, f.bytes = "a\x00\x1b[2J\u202e\r\nb", "{\"a\\u0000\":\"\\u001b[2J\"}"
	}),
	ordinary.but("negative numbers", func(f *filling) { f.whole, f.real, f.bytes = -7, -1.5, `[-1, 1e400, null, true]` }),
	ordinary.but("largest numbers", func(f *filling) { f.whole, f.real = math.MaxInt64, math.Inf(1) }),
	ordinary.but("smallest numbers", func(f *filling) { f.whole, f.real = math.MinInt64, math.NaN() }),
}

func (f filling) but(name string, change func(*filling)) filling {
	f.name = name
	change(&f)
	return f
}

// payload makes the payload of a point.
func (f filling) payload(p hookkit.AnyPoint) payload {
	v := reflect.New(payloadType(p)).Elem()
	if !f.zero {
		f.fill(v, 0)
	}
	return payload{f.name, v}
}

// Types may be recursive and nested, so values inside others end at a depth.
const (
	deepest      = 6
	deepestMany  = 4 // of slices and maps
	deepestOther = 3 // of pointers
	longestArray = 16
)

func (f filling) fill(v reflect.Value, depth int) {
	if depth > deepest {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		bound := uint(v.Type().Bits() - 1)
		v.SetInt(min(max(f.whole, -1<<bound), 1<<bound-1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if f.whole == math.MaxInt64 {
			v.SetUint(math.MaxUint64 >> (64 - v.Type().Bits()))
		} else {
			v.SetUint(uint64(max(f.whole, 0)))
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat(f.real)
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(f.real, f.real))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		if depth < deepestOther {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		f.fillSlice(v, depth)
	case reflect.Array:
		for i := range min(v.Len(), longestArray) {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		f.fillMap(v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}

func (f filling) fillSlice(v reflect.Value, depth int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte(f.bytes))
		return
	}
	if depth >= deepestMany {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), f.length, f.length))
	for i := range f.length {
		f.fillElement(v.Index(i), i, depth+1)
	}
}

func (f filling) fillMap(v reflect.Value, depth int) {
	if depth >= deepestMany {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := range f.length {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.key(i).fill(key, depth+1)
		f.fillElement(value, i, depth+1)
		v.SetMapIndex(key, value)
	}
}

// unsorted are the numbers in the elements of unsorted slices. Sorting them, in either direction, reversing them and
// removing a duplicate all move elements.
var unsorted = []int64{1, 2, 2, 0}

// fillElement fills element i of a slice or map.
func (f filling) fillElement(v reflect.Value, i, depth int) {
	switch {
	case f.hollow:
		return
	case f.unsorted:
		n := unsorted[i%len(unsorted)]
		f.text += fmt.Sprint(n)
		f.whole += n
		f.real += float64(n)
	default:
		f.length = min(f.length, 2)
	}
	f.fill(v, depth)
}

// key returns the filling for key number i of a map.
func (f filling) key(i int) filling {
	if i > 0 {
		f.text += fmt.Sprint(i)
		f.whole = int64(i)
	}
	return f
}
