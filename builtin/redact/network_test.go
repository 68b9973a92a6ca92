package redact

import "testing"

func TestAddressesOfNetworksAreRedactedOnRequest(t *testing.T) {
	for text, want := range map[string]string{
		"from 192.168.0.17:8080 to":     "from [REDACTED:ip-address]:8080 to",
		"at 2001:db8::1.":               "at [REDACTED:ip-address].",
		"[fe80::1ff:fe23:4567:890a]:1":  "[[REDACTED:ip-address]]:1",
		"mac 00:1B:44:11:3A:B7 up":      "mac [REDACTED:mac-address] up",
		"mac 00-1b-44-11-3a-b7":         "mac [REDACTED:mac-address]",
		"请求10.0.0.1失败":                  "请求[REDACTED:ip-address]失败",
		"at 10:30, v1.2.3, 1.2.3.4.5":   "at 10:30, v1.2.3, 1.2.3.4.5",
		"x := x::y; 300.1.1.1; 0.0.0.0": "x := x::y; 300.1.1.1; 0.0.0.0",
	} {
		t.Run(text, func(t *testing.T) {
			if got := (&Redactor{Network: true}).Text(text); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := new(Redactor).Text(text); got != text {
				t.Errorf("without the option: got %q", got)
			}
		})
	}
}
