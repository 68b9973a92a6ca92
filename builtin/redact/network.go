package redact

import (
	"net/netip"
	"strings"
)

// inAddress are the bytes of IP and MAC addresses.
var inAddress = chars("0-9a-fA-F:.-")

// appendNetwork appends the spans of IP addresses of versions 4 and 6, and of MAC addresses. A version of four numbers,
// as in 1.2.3.4, has the form of an address, too.
func appendNetwork(found []span, s string) []span {
	for at := 0; at < len(s); at++ {
		if !inAddress[s[at]] || at > 0 && (word[s[at-1]] || inAddress[s[at-1]]) {
			continue
		}
		end := inAddress.skip(s, at, len(s))
		text := strings.TrimRight(s[at:min(end, at+64)], ".:-")
		if host, _, port := strings.Cut(text, ":"); port && strings.Count(host, ".") == 3 {
			text = host
		}
		if kind := networkKind(text); kind != "" && !(end < len(s) && word[s[end]]) {
			found = append(found, span{at, at + len(text), kind})
		}
		at = end
	}
	return found
}

// networkKind returns the kind of an address, or "".
func networkKind(text string) string {
	if len(text) == 17 && (text[2] == ':' || text[2] == '-') {
		if pairs := strings.Split(text, text[2:3]); len(pairs) == 6 && anyHex.all(strings.Join(pairs, "")) {
			return "mac-address"
		}
	}
	if address, err := netip.ParseAddr(text); err == nil && len(text) > 2 && !address.IsUnspecified() {
		return "ip-address"
	}
	return ""
}
