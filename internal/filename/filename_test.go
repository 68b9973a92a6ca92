package filename

import (
	"strings"
	"testing"
)

func TestNamesLeadNowhereElseAndDecode(t *testing.T) {
	seen := make(map[string]string)
	for _, text := range []string{
		"a", "A", "a/b", "../../etc/passwd", "..", ".", "a.b", "-rf", "con", "com1", "CON", "a b", "a%2fb",
		"ä", "\x00", "\\", "c:x", "nul\n",
	} {
		name, err := Encode(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if strings.ContainsAny(name, "/\\.: \x00\n") || strings.HasPrefix(name, "-") || name != strings.ToLower(name) {
			t.Errorf("%q became %q", text, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q both became %q", text, other, name)
		}
		seen[name] = text
		if back, ok := Decode(name); !ok || back != text {
			t.Errorf("%q became %q and then %q, %v", text, name, back, ok)
		}
	}
	for _, text := range []string{"", strings.Repeat("x", 151), strings.Repeat("ä", 80)} {
		if name, err := Encode(text); err == nil {
			t.Errorf("%q became %q", text, name)
		}
	}
	for _, name := range []string{"%", "%6", "%zz", "%61", "A", ".tmp", "a.json", "con"} {
		if back, ok := Decode(name); ok {
			t.Errorf("%q was taken for the name of %q", name, back)
		}
	}
}
