package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
)

// A wire is a hand-written server of the streamable HTTP transport, for answers that the library would not send.
type wire struct {
	tools string                             // the JSON of the list of tools
	call  func(w http.ResponseWriter) string // the JSON of a result, or "" if it has answered itself

	mu    sync.Mutex
	asked []string // methods
}

func (w *wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
		rw.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.mu.Lock()
	w.asked = append(w.asked, req.Method)
	w.mu.Unlock()
	var result string
	switch req.Method {
	case "initialize":
		result = initialized
	case "tools/list":
		result = w.tools
	case "tools/call":
		if result = w.call(rw); result == "" {
			return
		}
	case "notifications/initialized", "notifications/cancelled":
		rw.WriteHeader(http.StatusAccepted)
		return
	default:
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
}

// count returns how often a method was asked for.
func (w *wire) count(method string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.asked {
		if m == method {
			n++
		}
	}
	return n
}

const initialized = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a"}}`

const oneTool = `{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}`

// listening serves HTTP until the test ends.
func listening(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// streamable serves a server of the library over HTTP.
func streamable(t *testing.T, s *sdk.Server) mcp.HTTP {
	t.Helper()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	return mcp.HTTP{URL: listening(t, handler).URL}
}
