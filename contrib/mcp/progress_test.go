package mcp_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A server sends more reports than a slow hook can follow. The hook gets the first one, and the last ones.
func TestAFloodOfReportsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sent = 1000
		server := newServer()
		answer := make(chan bool)
		add(server, "flood", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for i := range sent {
				err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: req.Params.GetProgressToken(), Progress: float64(i),
				})
				if err != nil {
					return nil, err
				}
			}
			<-answer
			return text("done"), nil
		})
		s := connect(t, mcp.InProcess{Server: server}, mcp.Options{})
		slow := make(chan bool)
		var reports []float64
		ctx := agentspec.WithProgress(t.Context(), func(_ string, data json.RawMessage) {
			var p struct{ Progress float64 }
			if err := json.Unmarshal(data, &p); err != nil {
				t.Error(err)
			}
			reports = append(reports, p.Progress)
			<-slow
		})
		ended := make(chan error, 1)
		go func() {
			_, err := tool(t, s, "flood").Call(ctx, call("{}"))
			ended <- err
		}()
		synctest.Wait() // all reports have come, and the hook has the first one
		if out, err := tool(t, s, "look").Call(t.Context(), call(`{"at":"Oslo"}`)); err != nil {
			t.Errorf("another call waits for the hook: %q, %v", out, err)
		}
		close(answer)
		close(slow)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := len(reports); n != 17 || reports[0] != 0 || reports[n-1] != sent-1 {
			t.Errorf("the hook got the reports %v", reports)
		}
	})
}
