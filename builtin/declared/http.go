package declared

import (
	"net/url"
	"strings"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
)

// endpoint returns a caller that posts each payload to the URL. It follows no redirect.
func (f *File) endpoint(d *declaration) (wire.Caller, error) {
	v := d.given["url"]
	address, err := v.text()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, v.errorf("a URL that begins with https:// or http:// is needed here")
	}
	options := []wirehttp.CallerOption{wirehttp.MaxBytes(maxReply)}
	if d.timeout > 0 {
		options = append(options, wirehttp.Timeout(d.timeout))
	}
	if v, ok := d.given["headers"]; ok {
		headers, err := variables(v)
		if err != nil {
			return nil, err
		}
		for name, value := range headers {
			if !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
				return nil, v.errorf("the header %q is invalid", name)
			}
			options = append(options, wirehttp.Header(name, value))
		}
	}
	return wirehttp.NewCaller(address, options...), nil
}

// isToken reports whether a text is the name of a header.
func isToken(name string) bool {
	const special = "!#$%&'*+-.^_`|~"
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(special, r)
	})
}
