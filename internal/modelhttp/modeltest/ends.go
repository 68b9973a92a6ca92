package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

// moments are the points of an answer where a test stops it.
var moments = []struct {
	name   string
	answer func(w http.ResponseWriter, event string)
}{
	{"before the answer", func(http.ResponseWriter, string) {}},
	{"before the first event", func(w http.ResponseWriter, _ string) { begin(w, "") }},
	{"between events", func(w http.ResponseWriter, event string) { begin(w, event) }},
	{"within an event", func(w http.ResponseWriter, event string) { begin(w, event+`data: {"type":`) }},
}

func begin(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// CheckEnds checks that a call fails as it should when the server dies and when the call is cancelled, at each moment
// of an answer. The function model returns a model on a server, and event is an event with a piece of text.
func CheckEnds(t *testing.T, model func(url string) agent.StreamingModel, event string) {
	for way, send := range map[string]func(context.Context, agent.StreamingModel) error{
		"stream": func(ctx context.Context, m agent.StreamingModel) error {
			_, err := m.Stream(ctx, agent.LLMRequest{}, func(agent.Delta) {})
			return err
		},
		"whole": func(ctx context.Context, m agent.StreamingModel) error {
			_, err := m.Generate(ctx, agent.LLMRequest{})
			return err
		},
	} {
		for _, moment := range moments {
			t.Run(way+"/the server dies/"+moment.name, func(t *testing.T) {
				m := model(Serve(t, func(w http.ResponseWriter, _ *http.Request) {
					moment.answer(w, event)
					panic(http.ErrAbortHandler)
				}))
				var e *modelhttp.Error
				if err := send(t.Context(), m); !errors.As(err, &e) || !e.Temporary() || e.Status != 0 {
					t.Errorf("got %v", err)
				}
			})
			t.Run(way+"/the call is cancelled/"+moment.name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m := model(Serve(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client is gone
					moment.answer(w, event)
					cancel()
					<-r.Context().Done()
				}))
				if err := send(ctx, m); !errors.Is(err, context.Canceled) || errors.As(err, new(*modelhttp.Error)) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	t.Run("a hook cancels at a piece", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := model(Serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			begin(w, event)
			<-r.Context().Done()
		}))
		pieces := 0
		_, err := m.Stream(ctx, agent.LLMRequest{}, func(agent.Delta) {
			pieces++
			cancel()
		})
		if !errors.Is(err, context.Canceled) || pieces == 0 {
			t.Errorf("got %v after %d pieces", err, pieces)
		}
	})
	t.Run("a call that has been cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m := model(Serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was called") }))
		if _, err := m.Generate(ctx, agent.LLMRequest{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
