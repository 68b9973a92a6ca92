package redact

import "testing"

func TestCredentialsInURLsAreRedacted(t *testing.T) {
	masks(t,
		`https://«bob:hunter2»@host/`, `https://«bob:hun@ter2»@host/`, `https://«bob:hun/ter2»@host/`,
		`https://«:hunter2»@host/`,
		`ssh://git@host/`, `https://bob@host/`, `https://«k3v9x2m8q1z7w4t6»@host/`, `https://«0123456789abcdef»@host/`,
		`https://0123456789abcde@host/`, `https://hunterhunterhunter@host/`, `https://bob:${PASSWORD}@host/`,
		`https://bob:$PASSWORD@host/`,
		`https://host:8080/a@b`, `https://host:$PORT/a@b`, `https://host:{port}/a@b`, `https://host:%d/a@b`,
		`https://host:*/a@b`,
		`https://host:<port>/a`, `https://host:[port]/a@b`, `https://host:port/a@b`, `https://[::1]:80/a@b`,
		`https://host/a:b@c`,
		`https://host?a=b:c@d`, `https://host#b:c@d`, `alone: https://«bob:hunter2hunter2»`, `https://bob:hunter2`,
		`https://bob:hunter2hunter2/`,
		`https://bob:hunter2hunter2 x`, `x https://«bob:hunter2»@host?next=https://«eve:hunter3»@other`,
		`://bob:hunter2@host`, `-://bob:hunter2@host`,
		`a://«bob:hunter2»@host`, `"https://«bob:hunter2»@host"`,
		`https://«bob:hunter2»@host https://«eve:hunter3»@host`, `https://`, `https://@`,
		`https://bob:@host`,
	)
}

func TestPortsAndTheirPlaceholders(t *testing.T) {
	judged(t, isPort, []string{"", "80", "$PORT", "%d", "{port}", "*", "<port>", "[port]", "port", "PORT"},
		[]string{"80a", "hunter2", "ports"})
}
