package redact

import (
	"fmt"
	"strings"
	"testing"
)

// checked returns digits with a valid check digit in place of the last one.
func checked(digits string) string {
	for last := range 10 {
		number := []byte(digits[:len(digits)-1] + fmt.Sprint(last))
		for i := range number {
			number[i] -= '0'
		}
		if hasCheckDigit(number) {
			return digits[:len(digits)-1] + fmt.Sprint(last)
		}
	}
	panic("no check digit")
}

func TestCardNumbersOfIssuersAreRedacted(t *testing.T) {
	for name, number := range map[string]string{
		"Visa": "4111111111111111", "old Visa": "4222222222222", "Mastercard": "5555555555554444",
		"Mastercard from": "2221000000000009", "Mastercard to": "2720999999999996", "American Express": "378282246310005",
		"Diners Club": "30569309025904", "Discover": "6011111111111117", "JCB": "3530111333300000",
		"UnionPay": "6200000000000005", "Maestro": "6759649826438453", "Mir": checked("2200123456789010"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "card ", "n=", "\"", "(", "#"} {
				if got, want := Personal(before+number+" paid"), before+Redacted+" paid"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			wrong := number[:len(number)-1] + string('0'+(number[len(number)-1]-'0'+1)%10)
			if got := Personal(wrong); got != wrong {
				t.Errorf("a wrong check digit: %q", got)
			}
		})
	}
}

func TestNumbersOfNoIssuerStay(t *testing.T) {
	for _, digits := range []string{
		"0111111111111110", "1111111111111110", "1730000000000000", "2199999999999990", "2721000000000000",
		"3100000000000000",
		"3300000000000000", "5000000000000000", "5600000000000000", "6600000000000000", "7000000000000000",
		"8000000000000000",
		"9111111111111110", "411111111111110", "41111111111110", "37828224631000", "4111111111111111110",
		"5555555555554440000",
	} {
		t.Run(digits, func(t *testing.T) {
			number := checked(digits)
			if got := Personal(number); got != number {
				t.Errorf("%s is redacted as %s", number, got)
			}
		})
	}
}

func TestPersonalDataIsFoundByItsForm(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"groups of four":         {"4111-1111-1111-1111.", "[REDACTED]."},
		"groups of a long card":  {"6200 0000 0000 0005 003", "[REDACTED] 003"},
		"American Express":       {"3782 822463 10005", "[REDACTED]"},
		"mixed separators":       {"4111-1111 1111-1111", "4111-1111 1111-1111"},
		"a table":                {"4111 11 1111 111111", "4111 11 1111 111111"},
		"a card in a word":       {"x4111111111111111", "x4111111111111111"},
		"a card and a code":      {"4111111111111111 123", "[REDACTED] 123"},
		"an address":             {"<jo.d+x@mail.example.org>", "<[REDACTED]>"},
		"an address and a stop":  {"ask jo@example.org.", "ask [REDACTED]."},
		"an address of ssh":      {"git@example.org:a/b", "git@example.org:a/b"},
		"a remote path":          {"scp x jo@example.org:/tmp", "scp x jo@example.org:/tmp"},
		"a version":              {"actions/checkout@v4.1.0", "actions/checkout@v4.1.0"},
		"a package":              {"react@18.2.0 @types/node@20.1.1", "react@18.2.0 @types/node@20.1.1"},
		"a picture":              {"icon@2x.png", "icon@2x.png"},
		"at signs":               {"a@@b.org @c d@", "a@@b.org @c d@"},
		"an American number":     {"call 555-123-4567", "call [REDACTED]"},
		"with an area":           {"(555) 123-4567", "[REDACTED]"},
		"with dots":              {"555.123.4567", "[REDACTED]"},
		"with a trunk":           {"1-555-123-4567", "[REDACTED]"},
		"international":          {"+44 20 7946 0958 now", "[REDACTED] now"},
		"international, compact": {"tel:+4915112345678", "tel:[REDACTED]"},
		"a table of numbers":     {"123 456 7890", "123 456 7890"},
		"a time zone":            {"+0100 and +12", "+0100 and +12"},
		"an area below 2":        {"155-123-4567", "155-123-4567"},
		"a part number":          {"123-45-678", "123-45-678"},
		"a social number":        {"123-45-6789", "[REDACTED]"},
		"no social number":       {"900-45-6789 666-45-6789 123-00-6789", "900-45-6789 666-45-6789 123-00-6789"},
		"an account":             {"GB82 WEST 1234 5698 7654 32", "[REDACTED]"},
		"an account, compact":    {"NL91ABNA0417164300,", "[REDACTED],"},
		"a wrong account":        {"GB83WEST12345698765432", "GB83WEST12345698765432"},
		"an unknown country":     {"ZZ82WEST12345698765432", "ZZ82WEST12345698765432"},
		"a longer word":          {"NL91ABNA04171643001", "NL91ABNA04171643001"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Personal(c.text); got != c.want {
				t.Errorf("Personal(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestLongNumbersStay(t *testing.T) {
	for _, unit := range []string{"1", "12", "4", "4111111111111112 ", "+1", "1 ", "1-"} {
		t.Run(unit, func(t *testing.T) {
			text := strings.Repeat(unit, 5000)
			if got := Personal(text); got != text {
				t.Errorf("%.80q is redacted as %.200q", text, got)
			}
		})
	}
}
