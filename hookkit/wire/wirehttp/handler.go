package wirehttp

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// NewHandler returns an HTTP handler for a hook service. It answers GET with the description of the service, and POST
// with a reply. The context of the hooks ends when the program hangs up.
//
// A POST request must have the type application/json. A web page cannot send that to another server without asking it
// first, and this handler does not permit it.
func NewHandler(h wire.Handler, opts ...HandlerOption) http.Handler {
	s := &handler{hooks: h, maxBytes: DefaultMaxBytes, maxCalls: DefaultMaxCalls, client: address}
	for _, o := range opts {
		o.applyHandler(s)
	}
	s.turns = newTurns(s.maxCalls)
	return s
}

type handler struct {
	hooks    wire.Handler
	maxBytes int64
	maxCalls int
	client   func(*http.Request) string
	turns    *turns
}

// address returns the address of the client without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		d, err := h.hooks.Describe(r.Context())
		answer(w, d, err)
	case http.MethodPost:
		client := h.client(r)
		r = r.WithContext(wire.WithClient(r.Context(), client))
		end, ok := h.turns.begin(r.Context(), client)
		if !ok {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests are being answered", http.StatusServiceUnavailable)
			return
		}
		defer end()
		request, status := h.read(w, r)
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		reply, err := h.hooks.Call(r.Context(), request)
		answer(w, reply, err)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
	}
}

// read returns the request in the body, and the HTTP status.
func (h *handler) read(w http.ResponseWriter, r *http.Request) (wire.Request, int) {
	var request wire.Request
	if mediaType(r.Header) != contentType {
		return request, http.StatusUnsupportedMediaType
	}
	// A client that sends its body slowly does not keep its turn. Not every server supports the deadline.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(DefaultTimeout))
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.maxBytes))
	if err == nil {
		err = wire.UnmarshalRequest(r.Context(), text, &request)
	}
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
		return request, http.StatusOK
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return request, http.StatusRequestEntityTooLarge
	}
	return request, http.StatusBadRequest
}

// answer writes a message, or an error of the handler.
func answer(w http.ResponseWriter, message any, err error) {
	text, failed := json.Marshal(message)
	if err != nil || failed != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(text) // if it fails, the program has hung up
}
