package otel

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
)

const (
	nameChars    = 128     // of a name in an attribute, for example of a tool
	reasonChars  = 200     // of a reason or an error
	contentChars = 2000    // of each text of a message, with Content
	shownCount   = 20      // the messages of a request, with Content: the last ones
	maxPayload   = 1 << 20 // bytes of text that a reason is compared with
)

// reason returns the reason of a hook or the text of an error. Without Content, it must not repeat the payloads.
func (t *Telemetry) reason(s string, payloads ...any) string {
	if !t.Content {
		s = withoutQuotes(s, payloads...)
	}
	return cut(&t.Redact, s, reasonChars)
}

// cut returns a short, redacted text that is valid UTF-8.
func cut(r *redact.Redactor, s string, chars int) string {
	return strings.ToValidUTF8(r.CutText(strings.ToValidUTF8(s, "\uFFFD"), chars), "\uFFFD")
}

// withoutQuotes replaces each word of a text that also occurs in the payloads by an ellipsis.
//
// For example, a hook denies a call of the tool shell with the reason "no rule allows cat /home/ann/keys". The reason
// becomes "no rule allows …", because the arguments of the call have the other words. A word that a payload contains
// in another form, such as a translation, remains. Words of one or two letters remain, too. If the payloads have more
// than 1 MiB of text, the result is empty.
func withoutQuotes(text string, payloads ...any) string {
	var said gatherer
	for _, p := range payloads {
		said.value(reflect.ValueOf(p), 0)
	}
	if said.Len() == 0 {
		return text
	}
	if said.Len() > maxPayload {
		return ""
	}
	payload := strings.ToLower(said.String())
	var kept strings.Builder
	masked := false    // the last word was replaced
	var between []rune // since the last word
	var current []rune // the word so far
	end := func() {
		word := string(current)
		quoted := compared(current) && strings.Contains(payload, strings.ToLower(word))
		switch {
		case len(current) == 0:
			return
		case quoted && masked:
		case quoted:
			kept.WriteString(string(between) + "…")
		default:
			kept.WriteString(string(between) + word)
		}
		masked, between, current = quoted, nil, nil
	}
	for n, r := range []rune(text) {
		if n == 10*reasonChars {
			break
		}
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if !letter || unspaced(r) {
			end()
		}
		if letter {
			current = append(current, r)
		} else {
			between = append(between, r)
		}
		if unspaced(r) {
			end()
		}
	}
	end()
	if !masked {
		kept.WriteString(string(between))
	}
	return kept.String()
}

// compared reports whether a word is compared with the payloads. Short words such as "a" and "is" are in every text.
func compared(word []rune) bool {
	return len(word) >= 3 || len(word) > 0 && (unspaced(word[0]) || strings.ContainsFunc(string(word), unicode.IsDigit))
}

// unspaced reports whether a letter can be a word. It is true for Thai and for all scripts after it in Unicode, some
// of which have no space between words.
func unspaced(r rune) bool { return r >= 0x0E00 && unicode.IsLetter(r) }

// A gatherer collects the texts of payloads, separated by spaces. Names of tools, IDs and schemas are not content.
type gatherer struct{ strings.Builder }

func (g *gatherer) text(s string) {
	g.WriteString(strings.ToValidUTF8(s, "\uFFFD"))
	g.WriteByte(' ')
}

// json collects JSON as it is and with its escapes resolved.
func (g *gatherer) json(data []byte) {
	g.text(string(data))
	if !strings.Contains(string(data), `\`) || len(data) > maxPayload {
		return
	}
	var decoded any
	if json.Unmarshal(data, &decoded) == nil {
		g.value(reflect.ValueOf(decoded), 0)
	}
}

func (g *gatherer) value(v reflect.Value, level int) {
	if !v.IsValid() || level > 12 || g.Len() > maxPayload {
		return
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case agent.ToolCallRequest:
			g.json(x.Args)
			return
		case agent.ToolSchema:
			return
		case json.RawMessage:
			g.json(x)
			return
		case []byte:
			return // images and the like
		}
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type() == stringType { // other types are enumerations
			g.text(v.String())
		}
	case reflect.Pointer, reflect.Interface:
		g.value(v.Elem(), level+1)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			g.value(v.Index(i), level+1)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			g.value(it.Key(), level+1)
			g.value(it.Value(), level+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			g.value(v.Field(i), level+1)
		}
	}
}

var stringType = reflect.TypeFor[string]()

// A vocabulary bounds the values of an attribute of metrics, because each value makes a new time series. For example,
// a server may send a new name for its model in each reply.
type vocabulary struct {
	mu   sync.Mutex
	seen map[string]bool
}

// maxNames bounds the values of one attribute.
const maxNames = 200

// bounded returns the name, or other if it would be one too many.
func (v *vocabulary) bounded(name string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.seen[name]:
	case len(v.seen) >= maxNames:
		return other
	case v.seen == nil:
		v.seen = map[string]bool{name: true}
	default:
		v.seen[name] = true
	}
	return name
}
