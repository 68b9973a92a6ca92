package shell

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// unescape decodes the escapes of $'...', or those of printf and echo -e if ansi is false.
func unescape(s string, ansi bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		text, size := escape(s[i+1:], ansi)
		b.WriteString(text)
		i += size
	}
	return b.String()
}

// controls are the escapes of one letter.
var controls = map[byte]string{
	'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// escape decodes an escape without its backslash, and returns its length in bytes.
func escape(s string, ansi bool) (string, int) {
	if text, ok := controls[s[0]]; ok {
		return text, 1
	}
	base, first, most := 16, 1, 0
	switch s[0] {
	case 'x':
		most = 2
	case 'u':
		most = 4
	case 'U':
		most = 8
	case '0', '1', '2', '3', '4', '5', '6', '7':
		base, first, most = 8, 0, 3
		if s[0] == '0' && !ansi {
			most = 4
		}
	default:
		return s[:1], 1
	}
	n := first
	for n < min(len(s), first+most) {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	v, err := strconv.ParseUint(s[first:n], base, 31)
	switch {
	case err != nil:
		return s[:1], 1
	case s[0] == 'u' || s[0] == 'U':
		return string(rune(v)), n
	}
	return string([]byte{byte(v)}), n
}

// output returns the output of a command if its arguments or its input contain it, for example of echo 'rm -rf x'.
func (c *Command) output() string {
	switch c.Program {
	case "echo":
		return echoed(c.Args)
	case "printf":
		return printed(c.Args)
	case "cat", "tee":
		if slices.ContainsFunc(c.Args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }) && c.Program == "cat" {
			return ""
		}
		return c.Stdin
	case "grep", "egrep", "fgrep", "head", "tail", "sort", "uniq", "tac", "dd", "nl":
		if hasOption(c.Args, "c", "--bytes", "--count") || hasOption(c.Args, "o", "--only-matching") {
			return ""
		}
		return c.Stdin // or some of its lines
	case "rev":
		runes := []rune(strings.TrimRight(c.Stdin, "\n"))
		slices.Reverse(runes)
		return string(runes)
	case "tr":
		return translated(c.Args, c.Stdin)
	case "base64", "xxd", "openssl":
		if c.decodes() {
			return decoded(c.Stdin)
		}
	}
	return ""
}

func echoed(args []string) string {
	escapes := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ") + "\n"
	if escapes || strings.Contains(text, `\n`) { // echo of dash decodes escapes without -e
		return unescape(text, false)
	}
	return text
}

func printed(args []string) string {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	format, args := unescape(args[0], false), args[1:]
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		for i++; i < len(format)-1 && strings.IndexByte("-+ #0123456789.*", format[i]) >= 0; i++ {
		}
		switch {
		case format[i] == '%':
			b.WriteByte('%')
		case len(args) > 0:
			value := args[0]
			if args = args[1:]; format[i] == 'b' {
				value = unescape(value, false)
			}
			b.WriteString(value)
		}
	}
	if len(args) > 0 {
		b.WriteString(" " + strings.Join(args, " ")) // the shell repeats the format
	}
	return b.String()
}

// decodes reports whether the command decodes its input, as base64 -d does.
func (c *Command) decodes() bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(c.Args, func(arg string) bool {
			long, isLong := strings.CutPrefix(arg, "--")
			return slices.ContainsFunc(options, func(o string) bool {
				if isLong || len(o) > 1 {
					return arg == o || isLong && len(long) > 2 && strings.HasPrefix(o, long)
				}
				return len(arg) > 1 && arg[0] == '-' && strings.Contains(arg[1:], o)
			})
		})
	}
	switch c.Program {
	case "base64", "base32", "base16", "basenc", "gbase64":
		return has("d", "D", "decode")
	case "xxd":
		return has("r", "revert")
	case "openssl":
		return has("-d")
	case "gzip", "bzip2", "xz", "zstd":
		return has("d", "decompress", "uncompress")
	case "lz4", "brotli", "ascii85", "basez", "base58", "base64url":
		return has("d", "decode", "decompress")
	case "uudecode", "rev", "caesar", "iconv", "recode", "uncompress", "zcat", "gzcat", "bzcat", "xzcat", "zstdcat",
		"gunzip", "bunzip2", "unxz", "unzstd":
		return true
	case "tr":
		return replacesLetters(c.Args)
	}
	return decodesText.MatchString(c.Program) ||
		interpreters[interpreterOf(c.Program)] && slices.ContainsFunc(c.Args, decodesText.MatchString)
}

// decodesText matches the names of functions that decode a text, and scripts that contain one.
var decodesText = regexp.MustCompile(`(?i)(?:[ab](?:16|32|64|85)_?decode|decode_?(?:base)?64|decodebytes|unhexlify|` +
	`fromhex|decompress|atob|gzinflate|rot_?13|hex2bin|codecs\.decode|\bpack)\b|['"](?:base64|hex)['"]`)

// conceals reports whether the command prints a text that is not known here: it decodes one, or it changes a text that
// the command line contains, as in echo 'xm -xf y' | sed s/x/r/.
func (c *Command) conceals(output string) bool {
	if c.decodes() {
		return true
	}
	if output != "" || c.Stdin == "" || strings.Contains(c.Stdin, "$") {
		return false
	}
	return textFilters[c.Program] || interpreters[interpreterOf(c.Program)] &&
		(hasOption(c.Args, "e", "--eval") || hasOption(c.Args, "c"))
}

// textFilters are programs that print their input in another form.
var textFilters = kit.Set("tr", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "cut", "jq", "yq", "fold", "paste",
	"column", "colrm", "fmt", "expand", "unexpand")

// decoded decodes base64, or else hexadecimal digits. It returns "" for other texts.
func decoded(text string) string {
	text = strings.Join(strings.Fields(text), "")
	if data, err := hex.DecodeString(text); err == nil {
		return string(data)
	}
	if data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "=")); err == nil {
		return string(data)
	}
	return ""
}

// decodedUTF16 decodes the base64 of a text in UTF-16, which PowerShell accepts as -EncodedCommand.
func decodedUTF16(text string) string {
	data := decoded(text)
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
	}
	return string(utf16.Decode(units))
}
