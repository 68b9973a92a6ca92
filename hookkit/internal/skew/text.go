package skew

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
	"github.com/hookgen/hookgen/internal/jsonscan"
)

// Clean returns a payload that encoding/json wrote as valid Unicode, and the paths of the texts that have U+FFFD in
// place of bytes that are not UTF-8, the first hundred. Most payloads have none and are returned as they are.
//
// Texts of a json.RawMessage come from elsewhere, for example from a model, and encoding/json copies their bytes.
func Clean(payload []byte) (clean []byte, damaged []string) {
	payload = cleanText(payload)
	if !bytes.Contains(payload, []byte(`\ufffd`)) {
		return payload, nil
	}
	s := jsonscan.Scanner{Data: payload}
	findDamaged(&s, nil, 0, &damaged)
	return payload, damaged
}

// cleanText replaces bytes that are not UTF-8, and halves of surrogate pairs, by the escape of U+FFFD.
func cleanText(text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte(`\ufffd`))
	}
	for done := 0; ; {
		at := strictjson.LoneSurrogate(text[done:])
		if at < 0 {
			return text
		}
		if done == 0 {
			text = bytes.Clone(text)
		}
		copy(text[done+at:], `\ufffd`)
		done += at + 6
	}
}

// findDamaged appends the paths of the texts with an escape of U+FFFD.
func findDamaged(s *jsonscan.Scanner, path *step, depth int, damaged *[]string) bool {
	const most = 100
	if depth > maxDepth {
		return false
	}
	switch s.Peek() {
	case '{':
		return s.Members(func(key []byte) bool {
			return findDamaged(s, path.member(string(key)), depth+1, damaged)
		})
	case '[':
		i := -1
		return s.Items(func() bool { i++; return findDamaged(s, path.item(i), depth+1, damaged) })
	}
	raw, ok := s.Value()
	if bytes.Contains(raw, []byte(`\ufffd`)) && len(*damaged) < most {
		*damaged = append(*damaged, "$"+path.String())
	}
	return ok
}

// Restore returns a replacement in which each text that the service left as it was sent is the original again. The
// original is the payload, or the part of it that was sent.
func Restore(original, replacement any) (any, error) {
	t := texts{byDamaged: map[string]string{}, ambiguous: map[string]bool{}}
	t.collect(reflect.ValueOf(original))
	restored := reflect.New(reflect.TypeOf(replacement)).Elem()
	restored.Set(reflect.ValueOf(replacement))
	err := t.restore(reflect.ValueOf(original), restored)
	return restored.Interface(), err
}

// texts are the originals of damaged texts.
type texts struct {
	byDamaged map[string]string
	ambiguous map[string]bool // damaged texts with several originals
}

func (t *texts) add(original string) {
	damaged := asSent(original)
	if damaged == original {
		return
	}
	if other, ok := t.byDamaged[damaged]; ok && other != original {
		t.ambiguous[damaged] = true
	}
	t.byDamaged[damaged] = original
}

// asSent returns a text as the service receives it.
func asSent(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text { // each wrong byte is a U+FFFD, as encoding/json writes it
		b.WriteRune(r)
	}
	return b.String()
}

// rawAsSent is asSent for JSON that the payload contains.
func rawAsSent(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, cleanText(text)) != nil {
		return string(text)
	}
	return b.String()
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

// collect adds the texts of a value.
func (t *texts) collect(v reflect.Value) {
	switch {
	case !v.IsValid():
	case v.Type() == rawMessage:
		if damaged := rawAsSent(v.Bytes()); damaged != string(v.Bytes()) {
			t.byDamaged[damaged] = string(v.Bytes())
		}
	case v.Kind() == reflect.String:
		t.add(v.String())
	case v.Kind() == reflect.Map:
		for key, elem := range v.Seq2() {
			t.collect(key)
			t.collect(elem)
		}
	default:
		each(v, reflect.Value{}, func(part, _ reflect.Value) error { t.collect(part); return nil })
	}
}

// each calls f for the parts of a value that encoding/json writes, with the part of another value at the same place, if
// there is one.
func each(v, other reflect.Value, f func(part, other reflect.Value) error) error {
	if other.IsValid() && other.Type() != v.Type() {
		other = reflect.Value{}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if other.IsValid() {
			other = other.Elem()
		}
		return f(v.Elem(), other)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); !field.IsExported() && !field.Anonymous {
				continue
			}
			var at reflect.Value
			if other.IsValid() {
				at = other.Field(i)
			}
			if err := f(v.Field(i), at); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			var at reflect.Value
			if other.IsValid() && i < other.Len() {
				at = other.Index(i)
			}
			if err := f(v.Index(i), at); err != nil {
				return err
			}
		}
	}
	return nil
}

var errAmbiguous = errors.New("two texts of the payload differ only in bytes that are not UTF-8")

// text returns the original of a text; at is the original at the same place, if there is one.
func (t *texts) text(
	is string, at reflect.Value, same func(at reflect.Value) (original, damaged string),
) (string, error) {
	original, ok := t.byDamaged[is]
	if !ok {
		return is, nil
	}
	if at.IsValid() {
		if here, damaged := same(at); damaged == is {
			return here, nil
		}
	}
	if t.ambiguous[is] {
		return "", fmt.Errorf("$.value: the service moves the text %.100q: %w", is, errAmbiguous)
	}
	return original, nil
}

// restore changes v in place.
func (t *texts) restore(original, v reflect.Value) error {
	switch {
	case !v.CanSet():
	case v.Type() == rawMessage:
		text, err := t.text(rawAsSent(v.Bytes()), original, func(at reflect.Value) (string, string) {
			return string(at.Bytes()), rawAsSent(at.Bytes())
		})
		if err == nil && t.byDamaged[rawAsSent(v.Bytes())] != "" {
			v.SetBytes([]byte(text))
		}
		return err
	case v.Kind() == reflect.String:
		text, err := t.text(v.String(), original, func(at reflect.Value) (string, string) {
			return at.String(), asSent(at.String())
		})
		v.SetString(text)
		return err
	case v.Kind() == reflect.Map:
		return t.restoreMap(original, v)
	case v.Kind() == reflect.Interface && !v.IsNil(): // its value cannot be changed in place
		inside := reflect.New(v.Elem().Type()).Elem()
		inside.Set(v.Elem())
		var at reflect.Value
		if original.IsValid() && original.Kind() == reflect.Interface && !original.IsNil() &&
			original.Elem().Type() == inside.Type() {
			at = original.Elem()
		}
		err := t.restore(at, inside)
		v.Set(inside)
		return err
	}
	return each(v, original, func(part, at reflect.Value) error { return t.restore(at, part) })
}

// restoreMap replaces a map, because keys cannot be changed in place.
func (t *texts) restoreMap(original, v reflect.Value) error {
	if v.IsNil() {
		return nil
	}
	keys := map[string]reflect.Value{} // the original keys, as they were sent
	if original.IsValid() && original.Type() == v.Type() && v.Type().Key().Kind() == reflect.String {
		for _, k := range original.MapKeys() {
			keys[asSent(k.String())] = k
		}
	}
	whole := reflect.MakeMapWithSize(v.Type(), v.Len())
	for k, e := range v.Seq2() {
		key, elem := reflect.New(k.Type()).Elem(), reflect.New(e.Type()).Elem()
		key.Set(k)
		elem.Set(e)
		var at reflect.Value
		if was, ok := keys[k.String()]; ok {
			key.Set(was)
			at = original.MapIndex(was)
		} else if err := t.restore(reflect.Value{}, key); err != nil {
			return err
		}
		if err := t.restore(at, elem); err != nil {
			return err
		}
		whole.SetMapIndex(key, elem)
	}
	v.Set(whole)
	return nil
}
