package modelhttp

import (
	"cmp"
	"context"
	"errors"
	"net/url"
)

// Endpoint returns the URL of a method of an API. The address of the API is base, or preset if base is empty. The error
// does not quote the address, which may have a key.
func Endpoint(base, preset, method string) (*url.URL, error) {
	at, err := url.Parse(cmp.Or(base, preset))
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, errors.New("the URL is not valid; set URL to the address of the API, such as " + preset)
	}
	return at.JoinPath(method), nil
}

// A Decoder reads an answer in the form that the server chose.
type Decoder interface {
	Stream(answer *Reply) error
	Whole(answer *Reply) error
}

// Do sends the call and decodes the answer. A server may answer with JSON to a call that asked for a stream.
func (c *Call) Do(ctx context.Context, stream bool, d Decoder) error {
	answer, err := c.Post(ctx)
	if err != nil {
		return err
	}
	defer answer.Close()
	if answer.Streams(stream) {
		return d.Stream(answer)
	}
	return d.Whole(answer)
}
