package modelhttp

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// An Error is a failure of a call to a model API. Its texts come from the server. They are cut to a line of bounded
// length, and the key is removed from them.
type Error struct {
	API       string // for example openai
	Status    int    // of HTTP; 0: there was no complete answer
	Type      string // as the API names it, for example rate_limit_error
	Code      string // as the API names it, for example insufficient_quota
	Message   string
	RequestID string
	Err       error // the cause, if it was not the server: for example of the network

	temporary  bool
	refused    bool
	retryAfter time.Duration
}

// HTTPStatusCode returns Status, for example for telemetry.
func (e *Error) HTTPStatusCode() int { return e.Status }

// Temporary reports whether the same call may succeed later: after a failure of the network, a limit on the rate, or
// an overload of the server.
func (e *Error) Temporary() bool { return e.temporary }

// Refused reports whether the server has answered with a status by which it did not ask the model: one from 300 to 499,
// for example for a wrong key or too many calls, or 529 for an overload. It returns false for 408 and 499, by which a
// gateway reports that it did not wait for the model.
func (e *Error) Refused() bool { return e.refused }

// RetryAfter returns the time that the server asked to wait before the next call, at most a day. It is 0 if the server
// named no time.
func (e *Error) RetryAfter() time.Duration { return e.retryAfter }

// Final makes the error one that is not temporary and returns it.
func (e *Error) Final() *Error {
	e.temporary = false
	return e
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Error has the status, the texts of the server and the id of the request.
func (e *Error) Error() string {
	var parts []string
	if e.Status != 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("status %d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	text := e.API + ": " + strings.Join(parts, ": ")
	kinds := slices.DeleteFunc([]string{e.Type, e.Code}, func(s string) bool { return s == "" })
	if kinds = slices.Compact(kinds); len(kinds) > 0 {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	if e.RequestID != "" {
		text += " [request " + e.RequestID + "]"
	}
	return text
}

// A SilenceError is the cause of an error of a server that sent nothing for too long.
type SilenceError struct{ After time.Duration }

// Error has the time.
func (e *SilenceError) Error() string { return fmt.Sprintf("the server sent nothing for %v", e.After) }

// Timeout reports true, as the timeouts of package net do.
func (e *SilenceError) Timeout() bool { return true }

// A TooLongError is the cause of an error of an answer that is longer than the limit.
type TooLongError struct{ Limit int64 }

// Error has the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes", e.Limit)
}

// temporary reports whether a call that failed with a status may succeed later.
func temporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// refuses reports whether an answer with a status says that the model was not asked.
func refuses(status int) bool {
	const closed, overloaded = 499, 529 // of nginx and of Anthropic
	switch status {
	case http.StatusRequestTimeout, closed:
		return false
	case overloaded:
		return true
	}
	return status/100 == 3 || status/100 == 4
}

// permanent reports whether a call that failed without a status will fail the next time as well.
func permanent(err error) bool {
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	var tooLong *TooLongError
	return errors.As(err, &certificate) || errors.As(err, &name) && name.IsNotFound || errors.As(err, &tooLong) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

// withoutURL returns an error of net/http without the URL, which may have a key in its query.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// longestWait bounds the time that a server can ask for.
const longestWait = 24 * time.Hour

// retryAfter returns the time that a server asked to wait: seconds, milliseconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	var wait float64 // seconds
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = ms / 1000
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		wait = s
	} else if date, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		wait = date.Sub(now).Seconds()
	}
	if math.IsNaN(wait) || wait <= 0 {
		return 0
	}
	return time.Duration(min(wait, longestWait.Seconds()) * float64(time.Second))
}

// reported returns the texts of an error body. Servers send an object with the key error, a list with such an object,
// or the fields of the error at the top.
func reported(body []byte) (kind, code, message string) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 {
		return Reported(outer.Error)
	}
	return Reported(body)
}

// Reported returns the texts of an error object. It ignores fields that are not texts or numbers, because they may
// quote the request.
func Reported(data []byte) (kind, code, message string) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return "", "", text
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return "", "", ""
	}
	get := func(name string) string {
		var value any
		if json.Unmarshal(fields[name], &value) != nil {
			return ""
		}
		switch value := value.(type) {
		case string:
			return value
		case float64:
			return strconv.FormatFloat(value, 'f', -1, 64)
		}
		return ""
	}
	return get("type"), get("code"), cmp.Or(get("message"), get("detail"), get("error"))
}

// maxMessage is the length of a text of a server in an error, in bytes.
const maxMessage = 500

// clean returns a text of the server for an error: without keys, in one line, and cut.
func (c *Call) clean(text string) string {
	for name, values := range c.Header {
		if !secret(name) {
			continue
		}
		for _, value := range values {
			_, credential, _ := strings.Cut(value, " ")
			for _, s := range []string{value, credential} {
				if len(s) >= 4 {
					text = strings.ReplaceAll(text, s, "[removed]")
				}
			}
		}
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "..."
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

// secret reports whether the values of a header are secrets.
func secret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie", "password"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}
