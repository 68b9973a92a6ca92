package modelhttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// Limits of a call that sets none.
const (
	DefaultWait  = 10 * time.Minute
	DefaultIdle  = 5 * time.Minute
	DefaultLimit = 64 << 20
)

// Limits of reading the body of an error.
const (
	maxErrorBody = 64 << 10
	errorTime    = 10 * time.Second
)

// A Call is a request to a model API.
type Call struct {
	API    string       // begins the text of each error, for example openai
	URL    string       // of the endpoint
	Header http.Header  // Content-Type is set by Post
	Client *http.Client // nil: http.DefaultClient. Redirects are never followed
	Body   []byte       // JSON

	// Wait is the time until a stream begins, or until an answer that is not a stream is complete. Idle is the time
	// between two lines of a stream. Bytes that do not complete a line do not count, so that a server cannot hold a
	// call by sending one byte at a time. Lines that complete no event, for example comments, do not count for longer than
	// the longer of both times. Zero means the default, and a negative time means no limit.
	Wait, Idle time.Duration

	// Limit is the size of an answer in bytes. Zero is DefaultLimit.
	Limit int64
}

// A Reply is the answer to a call: JSON, or a stream of events. Close it.
type Reply struct {
	call      *Call
	ctx       context.Context // of the caller
	requested context.Context // of the HTTP request
	cancel    context.CancelCauseFunc
	timer     *time.Timer
	resp      *http.Response
	lines     *lines
	since     time.Time // of the call, or of the last event
}

// Post sends the call. An answer with a status other than 2xx is an *Error.
func (c *Call) Post(ctx context.Context) (*Reply, error) {
	requested, cancel := context.WithCancelCause(ctx)
	r := &Reply{call: c, ctx: ctx, requested: requested, cancel: cancel, since: time.Now()}
	r.limit(cmp.Or(c.Wait, DefaultWait))
	req, err := http.NewRequestWithContext(requested, http.MethodPost, c.URL, bytes.NewReader(c.Body))
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: the URL is not valid", c.API) // the error of net/http quotes it
	}
	if c.Header != nil {
		req.Header = c.Header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{}
	if c.Client != nil {
		client = *c.Client
	}
	// A redirect would send the conversation, and on some APIs the key, to another host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r.resp, err = client.Do(req)
	if err != nil {
		defer r.Close()
		return nil, r.failed(err)
	}
	if r.resp.StatusCode/100 != 2 {
		defer r.Close()
		refused := r.refused()
		if ctx.Err() != nil {
			return nil, r.failed(ctx.Err())
		}
		return nil, refused
	}
	if r.media() == "text/html" {
		defer r.Close()
		e := r.error(r.resp.StatusCode)
		e.Message = "the answer is a page of HTML; set the URL of the API itself"
		return nil, e
	}
	r.lines = newLines(r.resp.Body, cmp.Or(c.Limit, DefaultLimit))
	return r, nil
}

// Streams reports whether the answer is a stream of events. A server without streaming answers with JSON, even if the
// call asked for a stream.
func (r *Reply) Streams(asked bool) bool {
	media := r.media()
	return media == "text/event-stream" || asked && media != "application/json"
}

// media returns the type of the answer without its parameters.
func (r *Reply) media() string {
	media, _, _ := mime.ParseMediaType(r.resp.Header.Get("Content-Type"))
	return media
}

// JSON decodes an answer that is not a stream.
func (r *Reply) JSON(into any) error {
	data, err := r.lines.all()
	if err != nil {
		return r.failed(err)
	}
	return r.Decode(data, into)
}

// Decode decodes a part of an answer. The error does not quote the answer.
func (r *Reply) Decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return r.Invalid("not the JSON of this API: %v", notQuoting(err))
	}
	return nil
}

// notQuoting returns an error about JSON without the text that is at fault.
func notQuoting(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("field %q has the wrong type", kind.Field)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("syntax error at byte %d", syntax.Offset)
	}
	return errors.New("it cannot be decoded")
}

// Next returns the next event of a stream. It returns io.EOF after the last one. Whether the reply was complete is a
// matter of the events: if not, the caller returns r.Cut().
func (r *Reply) Next() (Event, error) {
	if r.lines.begun {
		r.since = time.Now()
	}
	e, err := r.lines.event(r.alive)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.failed(err)
	}
	return e, err
}

// alive begins the time of silence again.
func (r *Reply) alive() {
	idle, wait := cmp.Or(r.call.Idle, DefaultIdle), cmp.Or(r.call.Wait, DefaultWait)
	r.limit(idle)
	if most := max(idle, wait); min(idle, wait) >= 0 && time.Since(r.since)+idle > most {
		r.limitAs(max(most-time.Since(r.since), 0), most)
	}
}

// Cut returns the error for a stream that ended before the reply was complete.
func (r *Reply) Cut() error { return r.failed(io.ErrUnexpectedEOF) }

// Invalid returns the error for an answer that cannot be understood. The server may do better the next time.
func (r *Reply) Invalid(format string, args ...any) error {
	e := r.error(r.resp.StatusCode)
	e.Message, e.temporary = "the answer is invalid: "+fmt.Sprintf(format, args...), true
	return e
}

// Failed returns the error for a failure that the server reported in an answer with status 200. Status is the one that
// the server would have sent for it before the answer began.
func (r *Reply) Failed(status int, kind, code, message string) *Error {
	e := r.error(status)
	e.Type, e.Code, e.Message = r.call.clean(kind), r.call.clean(code), r.call.clean(message)
	return e
}

// Close ends the call. The connection can serve another call if the server has ended its answer.
func (r *Reply) Close() {
	if r.resp != nil {
		r.limit(drainTime)
		_, _ = io.CopyN(io.Discard, r.resp.Body, drainBytes)
		_ = r.resp.Body.Close()
	}
	r.cancel(context.Canceled)
	r.limit(-1)
}

// What Close reads of an answer.
const (
	drainTime  = 50 * time.Millisecond
	drainBytes = 4 << 10
)

// limit cancels the call after a time. It replaces an earlier limit. A negative time only removes that.
func (r *Reply) limit(after time.Duration) { r.limitAs(after, after) }

// limitAs is like limit, and the error says another time.
func (r *Reply) limitAs(after, said time.Duration) {
	if r.timer != nil {
		r.timer.Stop()
	}
	if after >= 0 {
		r.timer = time.AfterFunc(after, func() { r.cancel(&SilenceError{said}) })
	}
}

// failed returns the error for a failure to send the call or to read the answer.
func (r *Reply) failed(err error) error {
	if done := r.ctx.Err(); done != nil {
		if cause := context.Cause(r.ctx); !errors.Is(done, cause) {
			return fmt.Errorf("%s: %w: %w", r.call.API, done, cause)
		}
		return fmt.Errorf("%s: %w", r.call.API, done)
	}
	var silence *SilenceError
	if errors.As(context.Cause(r.requested), &silence) {
		err = silence
	}
	e := r.error(0)
	e.Err, e.temporary = withoutURL(err), !permanent(err)
	return e
}

// error returns an error with the fields that all failures of a call share.
func (r *Reply) error(status int) *Error {
	e := &Error{API: r.call.API, Status: status, temporary: temporary(status)}
	if r.resp != nil {
		e.RequestID = r.call.clean(requestID(r.resp.Header))
	}
	return e
}

// refused returns the error for an answer with an error status.
func (r *Reply) refused() *Error {
	e := r.error(r.resp.StatusCode)
	e.refused = refuses(e.Status)
	header := r.resp.Header
	e.retryAfter = retryAfter(header, time.Now())
	r.limit(errorTime)
	body, _ := io.ReadAll(io.LimitReader(r.resp.Body, maxErrorBody)) // a part of it may do
	e.Type, e.Code, e.Message = reported(body)
	if plain := strings.HasPrefix(header.Get("Content-Type"), "text/plain"); plain && len(body) <= maxMessage &&
		!json.Valid(body) {
		e.Message = string(body)
	}
	if e.Message == "" && e.Status/100 == 3 {
		e.Message = "the server redirects the call; set the URL of the API itself"
	}
	e.Type, e.Code, e.Message = r.call.clean(e.Type), r.call.clean(e.Code), r.call.clean(e.Message)
	switch header.Get("X-Should-Retry") {
	case "true":
		e.temporary = true
	case "false":
		e.temporary = false
	}
	return e
}

func requestID(h http.Header) string { return cmp.Or(h.Get("X-Request-Id"), h.Get("Request-Id")) }
