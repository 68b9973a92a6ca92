package remote

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"time"

	"pgregory.net/rapid"
)

// DrawValue draws a value of a type that encoding/json writes and reads unchanged. It draws any value, and returns what
// encoding/json makes of it: a field that two embedded structs have is empty then, for example.
func DrawValue(t *rapid.T, typ reflect.Type, label string) reflect.Value {
	v := reflect.New(typ)
	fill(t, v.Elem(), label, 0)
	once := throughJSON(t, v)
	if twice := throughJSON(t, once); !reflect.DeepEqual(once.Interface(), twice.Interface()) {
		t.Fatalf("encoding/json changes %#v to %#v", once, twice)
	}
	return once.Elem()
}

// throughJSON writes and reads the value that v points to.
func throughJSON(t *rapid.T, v reflect.Value) reflect.Value {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	read := reflect.New(v.Type().Elem())
	if err := json.Unmarshal(text, read.Interface()); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return read
}

// deepest bounds values of recursive types.
const deepest = 5

// fill draws a value for v.
func fill(t *rapid.T, v reflect.Value, label string, depth int) {
	if fillKnown(t, v, label) {
		return
	}
	few := func() int {
		if depth >= deepest {
			return 0
		}
		return rapid.IntRange(-1, 2).Draw(t, label)
	}
	typ := v.Type()
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() || f.Anonymous {
				fill(t, v.Field(i), f.Name, depth+1)
			}
		}
	case reflect.Pointer:
		if few() > 0 {
			v.Set(reflect.New(typ.Elem()))
			fill(t, v.Elem(), label, depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), label, depth+1)
		}
	case reflect.Slice:
		if n := few(); n >= 0 {
			v.Set(reflect.MakeSlice(typ, n, n))
			for i := range n {
				fill(t, v.Index(i), label, depth+1)
			}
		}
	case reflect.Map:
		if n := few(); n >= 0 {
			v.Set(reflect.MakeMap(typ))
			for range n {
				key, elem := reflect.New(typ.Key()).Elem(), reflect.New(typ.Elem()).Elem()
				fill(t, key, label, depth+1)
				fill(t, elem, label, depth+1)
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Interface:
		if x := drawAny(t, label, depth); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		fillScalar(t, v, label)
	}
}

// fillKnown draws a value of a type of the standard library, and reports whether v is one.
func fillKnown(t *rapid.T, v reflect.Value, label string) bool {
	if !v.CanInterface() {
		return false // an embedded struct of a type that is not exported
	}
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		const years = 200 * 365 * 24 * 3600
		zone := time.FixedZone("", 900*rapid.IntRange(-48, 48).Draw(t, label))
		seconds := rapid.Int64Range(-years, years).Draw(t, label)
		*p = time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, label)).In(zone)
	case *netip.Addr:
		*p = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, label)))
	case *big.Int:
		p.Mul(big.NewInt(rapid.Int64().Draw(t, label)), big.NewInt(rapid.Int64().Draw(t, label)))
	case *json.RawMessage:
		text, err := json.Marshal(drawAny(t, label, 0))
		if err != nil {
			t.Fatal(err)
		}
		*p = text
	default:
		return false
	}
	return true
}

// drawAny draws a value for a variable of type any, as encoding/json would read it.
func drawAny(t *rapid.T, label string, depth int) any {
	kinds := 4
	if depth < deepest {
		kinds = 6
	}
	switch rapid.IntRange(1, kinds).Draw(t, label) {
	case 1:
		return rapid.String().Draw(t, label)
	case 2:
		return rapid.Float64().Draw(t, label)
	case 3:
		return rapid.Bool().Draw(t, label)
	case 4:
		return nil
	case 5:
		return []any{drawAny(t, label, depth+2), drawAny(t, label, depth+2)}
	default:
		return map[string]any{rapid.String().Draw(t, label): drawAny(t, label, depth+2)}
	}
}

// fillScalar draws a text or a number.
func fillScalar(t *rapid.T, v reflect.Value, label string) {
	switch kind := v.Kind(); {
	case kind == reflect.String:
		v.SetString(rapid.String().Draw(t, label))
	case kind == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, label))
	case v.CanInt():
		v.SetInt(rapid.Int64().Draw(t, label)) // the upper bits of a smaller type are dropped
	case v.CanUint():
		v.SetUint(rapid.Uint64().Draw(t, label))
	case kind == reflect.Float32:
		v.SetFloat(float64(rapid.Float32().Draw(t, label)))
	case kind == reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, label))
	default:
		t.Fatalf("no drawing of a %v", v.Type())
	}
}
