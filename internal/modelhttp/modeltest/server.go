package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Transport answers requests without a server.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f Transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Answers returns a transport that answers each request with a stream.
func Answers(stream string) Transport {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(strings.NewReader(stream)),
		}, nil
	}
}

// Cut returns a transport that answers with the beginning of a stream and then fails as a lost connection does.
func Cut(stream string) Transport {
	return func(*http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader(stream), lost{})
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, nil
	}
}

type lost struct{}

func (lost) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Serve starts a server until the test ends and returns its URL.
func Serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// A Script is a server that sends replies, and then no more. It is safe for concurrent use.
type Script struct {
	Replies []agent.LLMResponse

	// Write sends a reply as the API does, as a stream if the request asks for one.
	Write func(w http.ResponseWriter, reply agent.LLMResponse, stream bool)

	mu     sync.Mutex
	bodies []string
}

// Bodies returns the bodies of the requests.
func (s *Script) Bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// ServeHTTP sends the next reply. Without one it waits until the client is gone.
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var req struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(body, &req)
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	if len(s.Replies) == 0 {
		s.mu.Unlock()
		<-r.Context().Done()
		return
	}
	reply := s.Replies[0]
	s.Replies = s.Replies[1:]
	s.mu.Unlock()
	s.Write(w, reply, req.Stream)
}
