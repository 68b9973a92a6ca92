package terminal_test

import (
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/internal/terminal"
)

func TestHostileTextsAreVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", `a "b" \ ü 日本`, `a "b" \ ü 日本`},
		{"terminal sequences", "\x1b[2J\x1b]0;title\a", `\x1b[2J\x1b]0;title\x07`},
		{"C1 controls", "\u009b2J", `\u009b2J`},
		{"line ends", "a\r\nb\tc\u2028\u0085", `a\r\nb\tc\u2028\u0085`},
		{"bidirectional overrides", "\u202eabc\u2066\u200f", `\u202eabc\u2066\u200f`},
		{"invisible letters", "\u3164\u115f\u2800\u034f", `\u3164\u115f\u2800\u034f`},
		{"an invisible symbol", "\U0001d159", `\U0001d159`},
		{"invisible format characters", "\u200b\ufeff\u00ad\u180e", `\u200b\ufeff\u00ad\u180e`},
		{"tags", "\U000e0041\U000e0100", `\U000e0041\U000e0100`},
		{"variation selectors", "a\ufe0f", `a\ufe0f`},
		{"a hard blank", "a\u00a0b", `a\u00a0b`},
		{"bytes that are not UTF-8", "a\xffb", `a\xffb`},
		{"a replacement character", "a\ufffdb", "a\ufffdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := terminal.Escape(c.text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b[2J", "\u202e\u2066", "a\r\nb\tc", "\xff\xfe", "\u3164\ufe0f\U0001d159"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := terminal.Escape(text)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if !terminal.IsVisible(r) {
				t.Errorf("%q contains %U", got, r)
			}
		}
	})
}
