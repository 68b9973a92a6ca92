package skew

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
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
// original is the payload, or the part of it that was sent. The replacement was read from JSON, so that nobody else has
// its parts.
func Restore(original, replacement any) (any, error) {
	t := texts{originals: map[string][]string{}}
	from := reflect.ValueOf(original)
	if err := t.walk(from, reflect.Value{}); err != nil {
		return nil, err
	}
	t.restoring = true
	restored := reflect.New(reflect.TypeOf(replacement)).Elem()
	restored.Set(reflect.ValueOf(replacement))
	err := t.walk(restored, from)
	return restored.Interface(), err
}

// texts are the damaged texts of a value. They are collected first, and then restored in another value.
type texts struct {
	originals map[string][]string // by the text that the service receives
	restoring bool
}

// walk collects or restores the texts of v that encoding/json writes. The value at is the original at the same place,
// if there is one.
func (t *texts) walk(v, at reflect.Value) (err error) {
	if at.IsValid() && v.IsValid() && at.Type() != v.Type() {
		at = reflect.Value{}
	}
	part := func(of func(reflect.Value) reflect.Value) {
		var same reflect.Value
		if at.IsValid() {
			same = of(at)
		}
		if err == nil {
			err = t.walk(of(v), same)
		}
	}
	switch {
	case !v.IsValid():
	case v.Type() == rawMessage:
		return t.text(v, at, func(v reflect.Value) (text, sent string) { return string(v.Bytes()), rawAsSent(v.Bytes()) },
			func(text string) { v.SetBytes([]byte(text)) })
	case v.Kind() == reflect.String:
		return t.text(v, at, func(v reflect.Value) (text, sent string) { return v.String(), asSent(v.String()) }, v.SetString)
	case v.Kind() == reflect.Pointer:
		part(reflect.Value.Elem)
	case v.Kind() == reflect.Interface && !v.IsNil():
		inside, same := settable(v.Elem()), at // its value cannot be changed in place
		if same.IsValid() {
			same = same.Elem()
		}
		if err = t.walk(inside, same); t.restoring {
			v.Set(inside)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct {
				part(func(of reflect.Value) reflect.Value { return of.Field(i) })
			}
		}
	case v.Kind() == reflect.Map && !v.IsNil():
		return t.entries(v, at)
	case v.Kind() == reflect.Array, v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		for i := range v.Len() {
			part(func(of reflect.Value) reflect.Value {
				if i >= of.Len() {
					return reflect.Value{}
				}
				return of.Index(i)
			})
		}
	}
	return err
}

// entries is walk for a map, which is replaced, because keys cannot be changed in place.
func (t *texts) entries(v, at reflect.Value) error {
	sent := map[string]reflect.Value{} // the keys of the original, as they were sent
	if at.IsValid() && v.Type().Key().Kind() == reflect.String {
		for _, k := range at.MapKeys() {
			sent[asSent(k.String())] = k
		}
	}
	whole := reflect.MakeMapWithSize(v.Type(), v.Len())
	for k, e := range v.Seq2() {
		key, elem, same := settable(k), settable(e), reflect.Value{}
		err := t.walk(key, sent[k.String()])
		if err == nil && at.IsValid() {
			same = at.MapIndex(key)
		}
		if err = errors.Join(err, t.walk(elem, same)); err != nil {
			return err
		}
		whole.SetMapIndex(key, elem)
	}
	if t.restoring {
		v.Set(whole)
	}
	return nil
}

// settable returns a copy that can be changed.
func settable(v reflect.Value) reflect.Value {
	changed := reflect.New(v.Type()).Elem()
	changed.Set(v)
	return changed
}

// text collects or restores one text. The function of returns a text, and how the service receives it.
func (t *texts) text(v, at reflect.Value, of func(reflect.Value) (text, sent string), set func(string)) error {
	text, sent := of(v)
	all := t.originals[sent]
	if !t.restoring {
		if text != sent && !slices.Contains(all, text) {
			t.originals[sent] = append(all, text)
		}
		return nil
	}
	if at.IsValid() && len(all) > 0 {
		if same, damaged := of(at); damaged == sent {
			all = []string{same}
		}
	}
	switch len(all) {
	case 0:
	case 1:
		set(all[0])
	default:
		return fmt.Errorf("$.value: the service moves the text %.100q: %w", sent, errAmbiguous)
	}
	return nil
}

var errAmbiguous = errors.New("two texts of the payload differ only in bytes that are not UTF-8")

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
