package kill

import (
	"fmt"
	"regexp"
	"strings"
)

// A mark is a version in letters, because redactors could replace a number.
func mark(version int) string {
	digits := []byte(fmt.Sprintf("%08d", version))
	for i := range digits {
		digits[i] += 'a' - '0'
	}
	return "v" + string(digits)
}

// textOf returns a text of about size characters with many marks of its version, and an end mark.
func textOf(version, size int) string {
	m := mark(version)
	return strings.Repeat(m+" ", max(1, size/len(m+" "))) + "end" + m
}

var marks = regexp.MustCompile(`(end)?v([a-j]{8})`)

// versionOf returns the version of a text. It fails if the text has marks of two versions, or not exactly one end
// mark.
func versionOf(text string) (int, error) {
	version, ends := -1, 0
	for _, m := range marks.FindAllStringSubmatch(text, -1) {
		v := 0
		for _, c := range m[2] {
			v = v*10 + int(c-'a')
		}
		if version >= 0 && v != version {
			return 0, fmt.Errorf("it holds the versions %d and %d", version, v)
		}
		version = v
		if m[1] != "" {
			ends++
		}
	}
	switch {
	case version < 0:
		return 0, fmt.Errorf("it holds no version: %.60q, %d bytes", text, len(text))
	case ends != 1:
		return 0, fmt.Errorf("it holds version %d with %d ends, %d bytes", version, ends, len(text))
	}
	return version, nil
}

// wholeOf is like versionOf for a text of known size.
func wholeOf(text string, size int) (int, error) {
	v, err := versionOf(text[max(0, len(text)-len("end"+mark(0))):])
	if err == nil && text != textOf(v, size) {
		err = fmt.Errorf("version %d is not whole or not alone", v)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %d bytes that begin with %.30q, want %d", err, len(text), text, len(textOf(v, size)))
	}
	return v, nil
}
