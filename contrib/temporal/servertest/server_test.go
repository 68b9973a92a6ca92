package servertest

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/server/temporaltest"

	"github.com/hookgen/hookgen/contrib/temporal"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/fleet/fleettest"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An engine runs workers on a server in this process.
type engine struct {
	*temporal.Client
	server client.Client
}

func (e engine) Work(ctx context.Context, w *fleet.Worker) error {
	return (&temporal.Worker{Client: e.server, Fleet: w}).Run(ctx)
}

// start starts a server. The store has the logs of the runs, and outlives all workers.
func start(t *testing.T) (engine, fleet.Store) {
	t.Helper()
	server := temporaltest.NewServer()
	t.Cleanup(server.Stop)
	c := server.NewClientWithOptions(client.Options{Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	store := fleet.NewMemory(time.Second)
	store.Queue = nil
	e := engine{temporal.NewClient(c, store), c}
	e.Lifetime = 3 * time.Second
	return e, store
}

// TestStorm kills workers while their runs pay and ask. It takes a minute; with -short it is shorter.
func TestStorm(t *testing.T) {
	e, store := start(t)
	fleettest.Storm(t, store, e)
}

// TestCancelledRunsEnd: a run is cancelled while it makes a call, while it waits for a person, and after its end.
func TestCancelledRunsEnd(t *testing.T) {
	e, store := start(t)
	hang := &looptest.Tool{Name: "hang", Hang: true}
	w := &fleet.Worker{Store: store, Grace: time.Second, Agents: map[string]*loop.Agent{"clerk": {
		Name: "clerk", Tools: []agent.Tool{hang}, Model: looptest.NewScript(looptest.Call("hang", nil)),
	}}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Work(ctx, w) }()
	if err := e.Submit(ctx, fleet.Task{ID: "a", Agent: "clerk", Text: "x", Tenant: "acme"}); err != nil {
		t.Fatal(err)
	}
	for hang.Count() == 0 {
		time.Sleep(time.Millisecond)
	}
	if s, err := e.State(ctx, "a"); err != nil || len(s.Calls) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	for range 2 {
		if err := e.Cancel(ctx, "a"); err != nil {
			t.Error(err)
		}
		if r, err := e.Wait(ctx, "a"); err != nil || r.State != fleet.Cancelled {
			t.Errorf("%+v, %v", r, err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestExampleOnAServer runs the program of README.md.
func TestExampleOnAServer(t *testing.T) {
	server := temporaltest.NewServer()
	t.Cleanup(server.Stop)
	program := exec.Command("go", "run", "../example")
	program.Env = append(os.Environ(), "GOWORK=off", "TEMPORAL_ADDRESS="+server.GetFrontendHostPort(),
		"TEMPORAL_NAMESPACE="+server.GetDefaultNamespace())
	out, err := program.Output()
	if err != nil || !strings.Contains(string(out), "done The order is paid.\n") ||
		!strings.HasSuffix(string(out), "<nil>\n") {
		t.Errorf("%s, %v", out, err)
	}
}
