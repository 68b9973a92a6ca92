package filename

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxLength is the length in bytes of the longest result of [Encode].
const maxLength = 150

// Encode returns the name of a file for a text: the same name for the same text, and different names for different
// texts, also if the file system ignores case. The name consists of lower-case letters, digits, "-", "_" and "%", so it
// never leads to another directory. [Decode] returns the text again. Encode fails for the empty text, and for a text
// whose name would be too long for a file.
func Encode(text string) (string, error) {
	if text == "" {
		return "", errors.New("the name is empty; give one")
	}
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	name := b.String()
	if len(name) > maxLength {
		return "", fmt.Errorf("the name %.40q is too long for a file; give a shorter one", text)
	}
	if reserved[strings.TrimRight(name, "0123456789")] { // names of devices on some systems
		name = fmt.Sprintf("%%%02x%s", name[0], name[1:])
	}
	return name, nil
}

var reserved = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "com": true, "lpt": true}

// Of is Encode for texts of any length. It shortens long names and adds a hash of the text; Decode does not return the
// text of such a name. The empty text has the name "-".
func Of(text string) string {
	if text == "" {
		return "-"
	}
	name, err := Encode(text)
	if err == nil {
		return name
	}
	return shortened(text)
}

// shortened returns the beginning of a text and its hash. The result differs from all results of Encode, because
// "%-" is not an escape.
func shortened(text string) string {
	name, _ := Encode(text[:min(len(text), 20)])
	return fmt.Sprintf("%s%%-%x", name, sha256.Sum256([]byte(text)))
}

// Decode returns the text of a name that [Encode] made, and false for all other names.
func Decode(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		c, err := strconv.ParseUint(name[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	text := b.String()
	again, err := Encode(text)
	return text, err == nil && again == name
}
