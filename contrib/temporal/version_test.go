package temporal

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
)

// An otherServer knows no request of this release, and refuses its SDK.
type otherServer struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (otherServer) DescribeNamespace(
	context.Context, *workflowservice.DescribeNamespaceRequest,
) (*workflowservice.DescribeNamespaceResponse, error) {
	err := serviceerror.NewClientVersionNotSupported("1.50.0", "temporal-go", ">1.99")
	return nil, serviceerror.ToStatus(err).Err()
}

// TestOtherServersAreErrors: each error names the remedy.
func TestOtherServersAreErrors(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, otherServer{})
	ended := make(chan error)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		<-ended
	})
	conn, err := client.Dial(client.Options{
		HostPort: listener.Addr().String(), Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	store := fleet.NewMemory(time.Second)
	c := NewClient(conn, store)
	w := &Worker{Client: conn, Fleet: &fleet.Worker{Store: store, Agents: map[string]*loop.Agent{"clerk": {}}}}
	task := fleet.Task{ID: "a", Agent: "clerk", Text: "x"}
	for name, c := range map[string]struct {
		call   func(context.Context) error
		remedy string
	}{
		"Submit": {func(ctx context.Context) error { return c.Submit(ctx, task) }, "use a newer one"},
		"Cancel": {func(ctx context.Context) error {
			_ = c.Client.Submit(ctx, task) // the memory always takes it
			return c.Cancel(ctx, "a")
		}, "use a newer one"},
		"State":  {func(ctx context.Context) error { _, err := c.State(ctx, "a"); return err }, "use a newer one"},
		"Worker": {w.Run, "build this program with one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			if err := c.call(ctx); err == nil || !strings.Contains(err.Error(), c.remedy) || ctx.Err() != nil {
				t.Errorf("%v", err)
			}
		})
	}
}
