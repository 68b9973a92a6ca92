package jsonx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Decode decodes a single JSON value, with numbers as json.Number. Text after the value is an error.
func Decode(data []byte) (any, error) {
	if !json.Valid(data) { // a Decoder would ignore text after the value
		var invalid any
		return nil, json.Unmarshal(data, &invalid)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	return value, err
}

// Encode encodes a value without escaping <, > and &. A value that cannot be encoded becomes a text with the error.
func Encode(v any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return Encode(fmt.Sprintf("(cannot be encoded: %v)", err))
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// IsContainer reports whether a text is a JSON object or array.
func IsContainer(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}
