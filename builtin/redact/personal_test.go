package redact

import (
	"fmt"
	"strings"
	"testing"
)

// checked returns digits with a valid check digit in place of the last one.
func checked(digits string) string {
	for last := range 10 {
		if number := digits[:len(digits)-1] + fmt.Sprint(last); hasCheckDigit(number) {
			return number
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
				got := unkinded((&Redactor{KeepSecrets: true}).Text(before + number + " paid"))
				if want := before + Redacted + " paid"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			wrong := number[:len(number)-1] + string('0'+(number[len(number)-1]-'0'+1)%10)
			if got := unkinded((&Redactor{KeepSecrets: true}).Text(wrong)); got != wrong {
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
			if got := unkinded((&Redactor{KeepSecrets: true}).Text(number)); got != number {
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
		"a document":             {"plan@2x.pdf", "plan@2x.pdf"},
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
			if got := unkinded((&Redactor{KeepSecrets: true}).Text(c.text)); got != c.want {
				t.Errorf("(&Redactor{KeepSecrets: true}).Text(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestLongNumbersStay(t *testing.T) {
	for _, unit := range []string{"1", "12", "4", "4111111111111112 ", "+1", "1 ", "1-"} {
		t.Run(unit, func(t *testing.T) {
			text := strings.Repeat(unit, 5000)
			if got := unkinded((&Redactor{KeepSecrets: true}).Text(text)); got != text {
				t.Errorf("%.80q is redacted as %.200q", text, got)
			}
		})
	}
}

func TestIssuersUseRangesOfNumbers(t *testing.T) {
	is := func(first, n int) bool {
		number := checked(fmt.Sprintf("%d%0*d", first, n-4, 0))
		return fits(number, "card-number") && hasCheckDigit(number)
	}
	// The first and the last four digits of a range, its lengths, and the nearest numbers that no issuer uses; 0: none.
	for _, c := range []struct{ from, to, least, most, before, after int }{
		{2200, 2204, 16, 19, 2199, 2205},
		{2221, 2720, 16, 16, 2220, 2721},
		{3000, 3059, 14, 19, 2999, 3060},
		{3095, 3095, 14, 19, 3094, 3096},
		{3400, 3499, 15, 15, 3399, 3500},
		{3528, 3589, 16, 19, 3527, 3590},
		{3600, 3699, 14, 19, 3599, 0},
		{3700, 3799, 15, 15, 0, 0},
		{3800, 3999, 14, 19, 0, 0},
		{4000, 4999, 16, 16, 0, 5000},
		{4000, 4999, 13, 13, 0, 5000},
		{5018, 5018, 16, 19, 5017, 5019},
		{5020, 5020, 16, 19, 5019, 5021},
		{5038, 5038, 16, 19, 5037, 5039},
		{5100, 5599, 16, 16, 5099, 5600},
		{5612, 5612, 16, 19, 5611, 5613},
		{5893, 5893, 16, 19, 5892, 5894},
		{6011, 6011, 16, 19, 6010, 6012},
		{6200, 6299, 16, 19, 6199, 6300},
		{6304, 6304, 16, 19, 6303, 6305},
		{6390, 6390, 16, 19, 6389, 6391},
		{6440, 6599, 16, 19, 6439, 6600},
		{6700, 6799, 16, 19, 6699, 6800},
		{8100, 8171, 16, 19, 8099, 8172},
	} {
		t.Run(fmt.Sprintf("%d to %d", c.from, c.to), func(t *testing.T) {
			for _, n := range []int{c.least, c.most} {
				if !is(c.from, n) || !is(c.to, n) {
					t.Errorf("a number of %d digits is not a card", n)
				}
			}
			if c.least > 13 && is(c.from, c.least-1) {
				t.Errorf("a number of %d digits is a card", c.least-1)
			}
			for _, first := range []int{c.before, c.after} {
				if first > 0 && is(first, c.least) {
					t.Errorf("a number that begins with %d is a card", first)
				}
			}
		})
	}
}

func TestPersonalNumbersEndWhereTheirFormEnds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a security number in a larger one": {"123-45-67890", "123-45-67890"},
		"a security number at the end":      {"is 123-45-6789", "is [REDACTED]"},
		"no area 0":                         {"000-45-6789", "000-45-6789"},
		"no serial 0":                       {"123-45-0000", "123-45-0000"},
		"a letter in a security number":     {"123-a5-6789", "123-a5-6789"},
		"no first minus":                    {"123.45-6789", "123.45-6789"},
		"no second minus":                   {"123-45.6789", "123-45.6789"},
		"a telephone number and a digit":    {"555-123-45678", "555-123-45678"},
		"a telephone number and a fraction": {"555-123-4567.8", "555-123-4567.8"},
		"a telephone number and a stop":     {"555-123-4567.", "[REDACTED]."},
		"different separators":              {"555-123.4567", "555-123.4567"},
		"a trunk with another separator":    {"1-555.123.4567", "1-555.123.4567"},
		"a trunk with brackets":             {"1 (555) 123-4567", "[REDACTED]"},
		"brackets without a blank":          {"(555)123-4567", "[REDACTED]"},
		"brackets with a minus":             {"(555)-123-4567", "[REDACTED]"},
		"brackets and a dot":                {"(555) 123.4567", "[REDACTED]"},
		"brackets and a blank":              {"(555) 123 4567", "[REDACTED]"},
		"an open bracket":                   {"(555 123-4567", "(555 123-4567"},
		"an area below 2 in brackets":       {"(155) 123-4567", "(155) 123-4567"},
		"letters in brackets":               {"(5a5) 123-4567", "(5a5) 123-4567"},
		"a slash":                           {"(555) 123/4567", "(555) 123/4567"},
		"a short number":                    {"(555) 123-456", "(555) 123-456"},
		"only brackets":                     {"(555)", "(555)"},
		"a letter in the exchange":          {"555-1a3-4567", "555-1a3-4567"},
		"a letter in the line":              {"555-123-45a7", "555-123-45a7"},
		"8 international digits":            {"+49123456", "[REDACTED]"},
		"8 digits":                          {"+49 123456", "[REDACTED]"},
		"15 digits":                         {"+491234567890123", "[REDACTED]"},
		"16 digits":                         {"+4912345678901234", "+4912345678901234"},
		"7 digits":                          {"+49 12345", "+49 12345"},
		"a country code of 0":               {"+0912345678", "+0912345678"},
		"two separators":                    {"+49 (30) 1234567", "[REDACTED]"},
		"three separators":                  {"+49 - (30) 1234567", "+49 - (30) 1234567"},
		"dots and slashes":                  {"+49.30/1234-567", "[REDACTED]"},
		"a separator at the end":            {"+49 30 1234567 ", "[REDACTED] "},
		"an account with a break":           {"GB82 WEST  1234 5698 7654 32", "GB82 WEST  1234 5698 7654 32"},
		"a short account":                   {"GB82WEST1234569876543", "GB82WEST1234569876543"},
		"the first letter alone":            {"G182WEST12345698765432", "G182WEST12345698765432"},
		"no check digits":                   {"GBA2WEST12345698765432", "GBA2WEST12345698765432"},
		"no second check digit":             {"GB8AWEST12345698765432", "GB8AWEST12345698765432"},
		"small letters":                     {"GB82west12345698765432", "GB82west12345698765432"},
		"two numbers":                       {"555-123-4567 555-123-4568", "[REDACTED] [REDACTED]"},
		"a number after a fraction":         {"1.555-123-4567", "1.555-123-4567"},
		"a number after a slash":            {"1/555-123-4567", "1/555-123-4567"},
		"a number after a list":             {"1,555-123-4567", "1,555-123-4567"},
		"a number after a plus":             {"1+555-123-4567", "1+555-123-4567"},
		"a number after a stop":             {"a.555-123-4567", "a.[REDACTED]"},
		"a number after an underscore":      {"_555-123-4567", "_555-123-4567"},
		"a number before an underscore":     {"555-123-4567_", "555-123-4567_"},
		"a card of two groups":              {"411111111111 1111", "411111111111 1111"},
		"American Express in other groups":  {"3782 8224631 0005", "3782 8224631 0005"},
		"a long last group":                 {"4111 1111 1111 11111", "4111 1111 1111 11111"},
		"Diners Club in groups":             {"3056 930902 5904", "[REDACTED]"},
		"17 digits without groups":          {checked("62000000000000000"), checked("62000000000000000")},
		"16 digits before a word":           {"4111111111111111x", "4111111111111111x"},
		"a remote path of a home":           {"scp x jo@example.org:~/a", "scp x jo@example.org:~/a"},
		"a mail address and a colon":        {"jo@example.org: hello", "[REDACTED]: hello"},
		"a colon at the end":                {"jo@example.org:", "[REDACTED]:"},
		"a user of a URL":                   {"ftp://jo@example.org", "ftp://jo@example.org"},
		"two addresses":                     {"jo@example.org,al@example.org", "[REDACTED],[REDACTED]"},
		"punctuation before an address":     {".-+%jo@example.org", ".-+%[REDACTED]"},
		"a minus after an address":          {"jo@example.org-", "[REDACTED]-"},
		"no local part":                     {"@example.org", "@example.org"},
		"one label":                         {"jo@localhost", "jo@localhost"},
		"a label of one letter":             {"jo@example.o", "jo@example.o"},
		"a label with a digit":              {"jo@example.o1", "jo@example.o1"},
		"a label of 24 letters":             {"jo@example." + strings.Repeat("o", 24), "[REDACTED]"},
		"a label of 25 letters": {"jo@example." + strings.Repeat("o", 25), "jo@example." + strings.Repeat("o",
			25)},
		"two dots":                 {"jo@example..org", "jo@example..org"},
		"a dot at the beginning":   {"jo@.org", "jo@.org"},
		"a minus at the beginning": {"jo@-example.org", "jo@-example.org"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unkinded((&Redactor{KeepSecrets: true}).Text(c.text)); got != c.want {
				t.Errorf("(&Redactor{KeepSecrets: true}).Text(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}
