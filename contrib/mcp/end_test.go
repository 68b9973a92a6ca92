package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// hanging returns a server whose tool "hang" sends to begun and returns when its context is done, which it reports, or
// when the test ends.
func hanging(t *testing.T) (server *sdk.Server, begun, cancelled chan struct{}) {
	server, begun, cancelled = newServer(), make(chan struct{}, 10), make(chan struct{}, 10)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	add(server, "hang", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
		case <-over:
		}
		cancelled <- struct{}{}
		return text("over"), ctx.Err()
	})
	return server, begun, cancelled
}

func TestCancellationReachesTheServer(t *testing.T) {
	for name, through := range map[string]func(*testing.T, *sdk.Server) mcp.Transport{
		"in process": func(_ *testing.T, s *sdk.Server) mcp.Transport { return mcp.InProcess{Server: s} },
		"http":       func(t *testing.T, s *sdk.Server) mcp.Transport { return streamable(t, s) },
	} {
		t.Run(name, func(t *testing.T) {
			server, begun, cancelled := hanging(t)
			s := connect(t, through(t, server), mcp.Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			stopped := errors.New("stopped by the user")
			go func() {
				<-begun
				cancel(stopped)
			}()
			if _, err := tool(t, s, "hang").Call(ctx, call("")); !errors.Is(err, stopped) {
				t.Errorf("got %v", err)
			}
			<-cancelled
			if _, err := tool(t, s, "hang").Call(ctx, call("")); !errors.Is(err, stopped) {
				t.Errorf("before the call: got %v", err)
			}
			if out, err := tool(t, s, "look").Call(t.Context(), call(`{"at":"Oslo"}`)); out != "rain in Oslo" {
				t.Errorf("after it: got %q, %v", out, err)
			}
		})
	}
}

func TestACallHasATimeLimit(t *testing.T) {
	for name, c := range map[string]struct {
		opts  mcp.Options
		limit time.Duration
	}{
		"default": {mcp.Options{}, 5 * time.Minute},
		"own":     {mcp.Options{Timeout: time.Hour}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, _, _ := hanging(t)
				s := connect(t, mcp.InProcess{Server: server}, c.opts)
				begun := time.Now()
				_, err := tool(t, s, "hang").Call(t.Context(), call(""))
				failed := new(agent.ToolError)
				if !errors.As(err, &failed) || failed.Kind != agent.FailTimeout || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				if d := time.Since(begun); d != c.limit {
					t.Errorf("it took %v", d)
				}
				if d := tool(t, s, "hang").(agent.TimedTool).Timeout(); d != c.limit {
					t.Errorf("the loop's limit is %v", d)
				}
			})
		})
	}
}

func TestCloseEndsRunningCalls(t *testing.T) {
	for name, through := range map[string]func(*testing.T, *sdk.Server) mcp.Transport{
		"in process": func(_ *testing.T, s *sdk.Server) mcp.Transport { return mcp.InProcess{Server: s} },
		"http":       func(t *testing.T, s *sdk.Server) mcp.Transport { return streamable(t, s) },
	} {
		t.Run(name, func(t *testing.T) {
			server, begun, cancelled := hanging(t)
			s := connect(t, through(t, server), mcp.Options{})
			hang := tool(t, s, "hang")
			go func() {
				<-begun
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			if _, err := hang.Call(t.Context(), call("")); !errors.Is(err, mcp.ErrClosed) {
				t.Errorf("got %v", err)
			}
			<-cancelled
			if _, err := hang.Call(t.Context(), call("")); !errors.Is(err, mcp.ErrClosed) {
				t.Errorf("after Close: got %v", err)
			}
		})
	}
}

func TestADeadProcessIsStartedAgain(t *testing.T) {
	s := connect(t, child(t, "serve"), mcp.Options{})
	a := &loop.Agent{Tools: s.Tools(), Model: looptest.NewScript(
		looptest.Call("test__exit", nil), looptest.Call("test__look", `{"at":"Oslo"}`), looptest.Reply("done"),
	)}
	result, err := a.Run(t.Context(), "go")
	if err != nil || len(result.Calls) != 2 {
		t.Fatalf("got %+v, %v", result, err)
	}
	if got := result.Calls[0].Err; !strings.Contains(got, "the connection ended (exit status 3)") {
		t.Errorf("got %q", got)
	}
	if got := result.Calls[1].Output; got != "rain in Oslo" {
		t.Errorf("got %+v", result.Calls[1])
	}
}

// forget ends the sessions that a server of HTTP keeps for clients that may return.
func forget(server *sdk.Server) {
	for session := range server.Sessions() {
		go session.Close() // it waits for tools that are running
	}
}

func TestADeadServerFailsItsCalls(t *testing.T) {
	server, begun, _ := hanging(t)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { forget(server) })
	first := &http.Server{Handler: handler}
	go first.Serve(listener)
	s := connect(t, mcp.HTTP{URL: "http://" + listener.Addr().String() + "/?key=secret-key"}, mcp.Options{})
	go func() {
		<-begun
		first.Close()
	}()
	if _, err := tool(t, s, "hang").Call(t.Context(), call("")); err == nil {
		t.Error("the call succeeded")
	}
	_, err = tool(t, s, "look").Call(t.Context(), call(`{"at":"Oslo"}`))
	if err == nil || strings.Contains(err.Error(), "secret-key") {
		t.Errorf("without a server: %v", err)
	}
	again, err := net.Listen("tcp", listener.Addr().String())
	if err != nil {
		t.Skipf("the port was taken: %v", err)
	}
	restarted := newServer()
	t.Cleanup(func() { forget(restarted) })
	handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return restarted }, nil)
	second := &http.Server{Handler: handler}
	go second.Serve(again)
	t.Cleanup(func() { second.Close() })
	var out string
	for range 3 { // the first calls may learn that their session is gone
		if out, err = tool(t, s, "look").Call(t.Context(), call(`{"at":"Oslo"}`)); err == nil {
			break
		}
	}
	if out != "rain in Oslo" {
		t.Errorf("with a new server: %q, %v", out, err)
	}
}

func TestCutAndForeignAnswersAreErrors(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter) string{
		"cut": func(w http.ResponseWriter) string {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`)
			return ""
		},
		"cut stream": func(w http.ResponseWriter) string {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: message\ndata: {\"jsonrpc\"")
			return ""
		},
		"no JSON": func(w http.ResponseWriter) string {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "hello")
			return ""
		},
		"web page":      func(w http.ResponseWriter) string { w.Header().Set("Content-Type", "text/html"); return `"hello"` },
		"unknown kind":  func(http.ResponseWriter) string { return `{"content":[{"type":"hologram"}]}` },
		"wrong type":    func(http.ResponseWriter) string { return `{"content":{"type":1}}` },
		"wrong result":  func(http.ResponseWriter) string { return `[]` },
		"too large":     func(http.ResponseWriter) string { return `{"x":"` + strings.Repeat("a", 17<<20) + `"}` },
		"server error":  func(w http.ResponseWriter) string { w.WriteHeader(http.StatusInternalServerError); return `{}` },
		"gone":          func(w http.ResponseWriter) string { w.WriteHeader(http.StatusGone); return `{}` },
		"bad base64":    func(http.ResponseWriter) string { return `{"content":[{"type":"image","data":"!"}]}` },
		"null contents": func(http.ResponseWriter) string { return `{"content":[null]}` },
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{tools: oneTool, call: func(w http.ResponseWriter) string { return answer(w) }}
			s := connect(t, mcp.HTTP{URL: listening(t, w).URL}, mcp.Options{})
			look := tool(t, s, "look")
			if out, err := look.Call(t.Context(), call("")); err == nil {
				t.Errorf("got %.100q", out)
			} else if len(err.Error()) > 1500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			answer = func(http.ResponseWriter) string { return `{"content":[{"type":"text","text":"sun"}]}` }
			if out, err := look.Call(t.Context(), call("")); out != "sun" {
				t.Errorf("the next call: %q, %v", out, err)
			}
		})
	}
}

func init() {
	// A server that does not read after it has listed its tools, unless it has been started before.
	other["deaf"] = func(*sdk.Server) {
		if os.Mkdir(os.Getenv("MCP_TEST_MARK"), 0o700) != nil {
			return
		}
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			var req struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			_ = json.Unmarshal(lines.Bytes(), &req)
			switch req.Method {
			case "initialize":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, initialized)
			case "tools/list":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, oneTool)
				time.Sleep(time.Hour)
			case "server/discover":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", req.ID)
			}
		}
	}
	// A server with a child that has the same input and output.
	other["parent"] = func(*sdk.Server) {
		program, err := os.Executable()
		if err != nil {
			panic(err)
		}
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "MCP_TEST_SERVER=grandchild")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
	// The child of that server: it holds a connection to the test until it is killed.
	other["grandchild"] = func(*sdk.Server) {
		conn, err := net.Dial("tcp", os.Getenv("MCP_TEST_ADDRESS"))
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte("1"))
		_, _ = io.Copy(io.Discard, conn)
		os.Exit(0)
	}
}

func TestADeafServerIsStartedAgain(t *testing.T) {
	mcp.SetStuck(t, time.Millisecond)
	s := connect(t, child(t, "deaf", "MCP_TEST_MARK="+filepath.Join(t.TempDir(), "mark")), mcp.Options{})
	look := tool(t, s, "look")
	large := call(`{"at":"` + strings.Repeat("a", 1<<20) + `"}`) // more than a pipe holds
	cancelled := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := look.Call(ctx, large)
		return err
	}
	for !s.Ended() { // on a busy machine the time may pass before a call is written
		if err := cancelled(); err == nil {
			break // it has been started again
		}
	}
	if out, err := look.Call(t.Context(), call(`{"at":"Oslo"}`)); out != "rain in Oslo" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestCloseDoesNotWaitForADeafServer(t *testing.T) {
	s := connect(t, child(t, "deaf", "MCP_TEST_MARK="+filepath.Join(t.TempDir(), "mark")), mcp.Options{})
	look := tool(t, s, "look")
	failed := make(chan error)
	go func() {
		_, err := look.Call(t.Context(), call(`{"at":"`+strings.Repeat("a", 1<<20)+`"}`))
		failed <- err
	}()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; !errors.Is(err, mcp.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsTheChildrenOfTheServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := connect(t, child(t, "parent", "MCP_TEST_ADDRESS="+listener.Addr().String()), mcp.Options{})
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the child of the server is alive")
	}
}
