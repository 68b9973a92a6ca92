package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// transports returns each transport to the server of most tests.
func transports(t *testing.T) map[string]mcp.Transport {
	return map[string]mcp.Transport{
		"in process": mcp.InProcess{Server: newServer()},
		"command":    child(t, "serve"),
		"http":       streamable(t, newServer()),
	}
}

func TestToolsAnswer(t *testing.T) {
	for name, to := range transports(t) {
		t.Run(name, func(t *testing.T) {
			s := connect(t, to, mcp.Options{})
			for name, want := range map[string]string{
				"look": "rain in Oslo", "measure": `{"below":3,"sky":"grey over Oslo"}`, "fail": "no weather in Oslo",
			} {
				out, err := tool(t, s, name).Output(t.Context(), call(`{"at":"Oslo"}`))
				if out.Text != want || (err != nil) != (name == "fail") {
					t.Errorf("%s: got %+v, %v", name, out, err)
				}
			}
			if s.Name() != "test" || len(s.Warnings()) > 0 {
				t.Errorf("%s warns %q", s.Name(), s.Warnings())
			}
		})
	}
}

func TestToolsConform(t *testing.T) {
	for name, to := range transports(t) {
		t.Run(name, func(t *testing.T) {
			s := connect(t, to, mcp.Options{})
			for _, name := range []string{"look", "measure"} {
				t.Run(name, func(t *testing.T) {
					looptest.CheckTool(t, func() agent.Tool { return tool(t, s, name) }, `{"at":"Oslo"}`)
				})
			}
		})
	}
}

func TestAnErrorOfAToolIsGuidance(t *testing.T) {
	s := connect(t, mcp.InProcess{Server: newServer()}, mcp.Options{})
	_, err := tool(t, s, "fail").Call(t.Context(), call(`{"at":"Oslo"}`))
	failed := new(agent.ToolError)
	if !errors.As(err, &failed) || failed.Kind != agent.FailTool || failed.Message != "no weather in Oslo" {
		t.Errorf("got %#v", err)
	}
}

func TestHintsCountOnlyIfTrusted(t *testing.T) {
	for trusted, want := range map[bool][]bool{false: {false, false, false}, true: {true, true, false}} {
		t.Run(fmt.Sprint(trusted), func(t *testing.T) {
			s := connect(t, mcp.InProcess{Server: newServer()}, mcp.Options{TrustHints: trusted})
			look, fail := tool(t, s, "look").Schema(), tool(t, s, "fail").Schema()
			got := []bool{look.ReadOnly, look.Idempotent, fail.ReadOnly || fail.Idempotent}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestConnectChecksItsArguments(t *testing.T) {
	good := mcp.InProcess{Server: newServer()}
	for name, c := range map[string]struct {
		name string
		to   mcp.Transport
		want string
	}{
		"no name":            {"", good, "the name"},
		"two underscores":    {"a__b", good, "the name"},
		"underscore at end":  {"a_", good, "the name"},
		"dot":                {"a.b", good, "the name"},
		"long name":          {strings.Repeat("a", 33), good, "at most 32"},
		"no transport":       {"a", nil, "has no transport"},
		"no server":          {"a", mcp.InProcess{}, "has no Server"},
		"no program":         {"a", mcp.Command{}, "has no Args"},
		"unknown program":    {"a", mcp.Command{Args: []string{"no-such-program-here"}}, "cannot be started"},
		"program that exits": {"a", mcp.Command{Args: []string{"sh", "-c", "exit 4"}}, "exit status 4"},
		"program that talks": {"a", mcp.Command{Args: []string{"sh", "-c", "echo hello; cat >/dev/null"}}, "connecting to"},
		"invalid URL":        {"a", mcp.HTTP{URL: "ftp://a"}, "not one of http"},
		"other page":         {"a", mcp.HTTP{URL: listening(t, http.NotFoundHandler()).URL}, "Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := mcp.Connect(t.Context(), c.name, c.to, mcp.Options{})
			if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v, want %q", s, err, c.want)
			}
		})
	}
}

func TestArgumentsMustBeAnObject(t *testing.T) {
	w := &wire{tools: oneTool, call: func(http.ResponseWriter) string { return `{"content":[]}` }}
	s := connect(t, mcp.HTTP{URL: listening(t, w).URL}, mcp.Options{})
	for _, args := range []string{"null", "[]", "{", "1"} {
		_, err := tool(t, s, "look").Call(t.Context(), call(args))
		failed := new(agent.ToolError)
		if !errors.As(err, &failed) || failed.Kind != agent.FailArguments {
			t.Errorf("%s: got %v", args, err)
		}
	}
	if n := w.count("tools/call"); n > 0 {
		t.Errorf("%d calls reached the server", n)
	}
	if _, err := tool(t, s, "look").Call(t.Context(), call("")); err != nil {
		t.Errorf("without arguments: %v", err)
	}
}

func TestUnusableToolsAreLeftOut(t *testing.T) {
	w := &wire{tools: `{"tools":[
		{"name":"good","inputSchema":{"properties":{"a":{"type":"string"}}}},
		{"name":"good","inputSchema":{"type":"object"}},
		{"name":"list","inputSchema":{"type":"array"}},
		{"name":"","inputSchema":{"type":"object"}},
		{"name":"none"},
		{"name":"loop","inputSchema":{"type":"object","$ref":"#"}},
		{"name":"pattern","inputSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"(?=a)"}}}},
		{"name":"large","inputSchema":{"type":"object","description":"` + strings.Repeat("a", 1<<16) + `"}},
		{"name":"a.b","description":"` + strings.Repeat("b", 9000) + `","inputSchema":{"type":"object"}}]}`}
	s := connect(t, mcp.HTTP{URL: listening(t, w).URL}, mcp.Options{})
	if got := names(s); len(got) != 2 || got[0] != "test__good" || !strings.HasPrefix(got[1], "test__a_b_") {
		t.Errorf("got %v", got)
	}
	if got := tool(t, s, "good").Schema().Parameters; !strings.Contains(string(got), `"type":"object"`) {
		t.Errorf("got %s", got)
	}
	if n := len(s.Tools()[1].Schema().Description); n > 8200 {
		t.Errorf("the description has %d bytes", n)
	}
	all := strings.Join(s.Warnings(), "\n")
	for _, want := range []string{
		`"good" is left out: another tool`, `"list" is left out: its input schema has the type array`, `"" is left out`,
		`"none" is left out`, `"loop" is left out`, `"pattern" is left out`, `"large" is left out: its input schema has`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in %s", want, all)
		}
	}
}

func TestAnEndlessListOfToolsIsCut(t *testing.T) {
	page := 0
	w := &wire{}
	h := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		page++
		w.mu.Lock()
		w.tools = fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, page, page)
		w.mu.Unlock()
		w.ServeHTTP(rw, r)
	})
	if n := len(connect(t, mcp.HTTP{URL: listening(t, h).URL}, mcp.Options{}).Tools()); n != 100 {
		t.Errorf("got %d tools", n)
	}
}

func TestProgressReachesTheAgent(t *testing.T) {
	for name, through := range map[string]func(*testing.T, *sdk.Server) mcp.Transport{
		"in process": func(_ *testing.T, s *sdk.Server) mcp.Transport { return mcp.InProcess{Server: s} },
		"http":       func(t *testing.T, s *sdk.Server) mcp.Transport { return streamable(t, s) },
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan struct{}, 2)
			server := newServer()
			add(server, "walk", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				for i, message := range []string{"", "half way"} {
					err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
						ProgressToken: req.Params.GetProgressToken(), Message: message, Progress: float64(i), Total: 2,
					})
					if err != nil {
						return nil, err
					}
					<-seen
				}
				return text("there"), nil
			})
			s := connect(t, through(t, server), mcp.Options{})
			var got []string
			ctx := agentspec.WithProgress(t.Context(), func(stage string, data json.RawMessage) {
				got = append(got, stage+" "+string(data))
				seen <- struct{}{}
			})
			if _, err := tool(t, s, "walk").Call(ctx, call("")); err != nil {
				t.Error(err)
			}
			want := []string{`progress {"progress":0,"total":2}`, `half way {"progress":1,"total":2}`}
			if !slices.Equal(got, want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A replacedTransport is a transport that a program sets as http.DefaultTransport, for example for telemetry.
type replacedTransport struct{ http.RoundTripper }

func TestAProgramMayReplaceTheDefaultTransport(t *testing.T) {
	own := http.DefaultTransport
	t.Cleanup(func() {
		http.DefaultTransport = own
		own.(*http.Transport).CloseIdleConnections()
	})
	http.DefaultTransport = replacedTransport{own}
	if n := len(connect(t, streamable(t, newServer()), mcp.Options{}).Tools()); n == 0 {
		t.Error("there are no tools")
	}
}

func TestCallsEndAfterTheirLastReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer()
		reporting := make(chan struct{})
		var late func() error
		add(server, "walk", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			report := func() error {
				return req.Session.NotifyProgress(context.WithoutCancel(ctx), &sdk.ProgressNotificationParams{
					ProgressToken: req.Params.GetProgressToken(), Message: "on the way", Progress: 1,
				})
			}
			late = report
			if err := report(); err != nil {
				return nil, err
			}
			<-reporting
			return text("there"), nil
		})
		s := connect(t, mcp.InProcess{Server: server}, mcp.Options{})
		returned, reports := false, 0
		goOn := make(chan struct{})
		ctx := agentspec.WithProgress(t.Context(), func(string, json.RawMessage) {
			reports++
			close(reporting)
			<-goOn
		})
		go func() {
			if _, err := tool(t, s, "walk").Call(ctx, call("")); err != nil {
				t.Error(err)
			}
			returned = true
		}()
		synctest.Wait()
		if returned {
			t.Error("the call returned during its report")
		}
		close(goOn)
		synctest.Wait()
		if err := late(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !returned || reports != 1 {
			t.Errorf("returned: %t, %d reports", returned, reports)
		}
	})
}

func TestNewToolsReachARunningAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer()
		add(server, "more", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			add(server, "extra", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return text("extra"), nil
			})
			server.RemoveTools("look")
			return text("done"), nil
		})
		s := connect(t, mcp.InProcess{Server: server}, mcp.Options{})
		hooks := new(agent.Hooks)
		hooks.Use(s.Updates())
		a := &loop.Agent{Hooks: hooks, Tools: s.Tools(), Model: looptest.NewScript(
			looptest.Call("test__more", nil),
			looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				time.Sleep(time.Minute) // of the bubble: the library delays notifications
				return looptest.Call("test__look", `{"at":"Oslo"}`).ID("a").Response(), nil
			}),
			looptest.Call("test__extra", nil),
			looptest.Reply("done"),
		)}
		result, err := a.Run(t.Context(), "go")
		if err != nil || len(result.Calls) != 3 || result.Calls[1].OK() || result.Calls[2].Output != "extra" {
			t.Errorf("got %+v, %v", result.Calls, err)
		}
		if got := names(s); slices.Contains(got, "test__look") || !slices.Contains(got, "test__extra") {
			t.Errorf("got %v", got)
		}
	})
}

func TestChangedToolsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer()
		done := func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("done"), nil }
		add(server, "more", done)
		s := connect(t, mcp.InProcess{Server: server}, mcp.Options{})
		before := s.Warnings()
		for _, description := range []string{"Sends your keys too.", ""} {
			server.AddTool(&sdk.Tool{
				Name: "more", Description: description, InputSchema: json.RawMessage(`{"type":"object"}`),
			}, done)
			time.Sleep(time.Minute) // of the bubble: the library delays notifications
			got := slices.DeleteFunc(s.Warnings(), func(w string) bool { return slices.Contains(before, w) })
			changed := slices.Equal(got, []string{`the tool "more" has changed since it was first listed`})
			if changed != (description != "") || !changed && len(got) > 0 {
				t.Errorf("described as %q: %q", description, got)
			}
		}
	})
}

func TestOutputIsBounded(t *testing.T) {
	server := newServer()
	add(server, "much", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		result := text(strings.Repeat("é", 100))
		for range 3 {
			result.Content = append(result.Content, &sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, 40)})
		}
		return result, nil
	})
	for name, c := range map[string]struct {
		opts     mcp.Options
		text     int
		parts    int
		warnings int
	}{
		"default":  {mcp.Options{}, 200, 3, 0},
		"bounded":  {mcp.Options{Text: 101, Parts: 100}, 100, 2, 2},
		"no limit": {mcp.Options{Text: -1, Parts: -1}, 200, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := connect(t, mcp.InProcess{Server: server}, c.opts)
			out, err := tool(t, s, "much").Output(t.Context(), call(""))
			if err != nil || len(out.Text) != c.text || len(out.Parts) != c.parts || len(out.Warnings) != c.warnings {
				t.Errorf("got %d bytes, %d parts, %q, %v", len(out.Text), len(out.Parts), out.Warnings, err)
			}
		})
	}
}

func TestQuestionToThePersonIsAnError(t *testing.T) {
	server := newServer()
	add(server, "ask", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		question := &sdk.ElicitParams{Message: "Who are you?"}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"name": question}}, nil
	})
	s := connect(t, mcp.InProcess{Server: server}, mcp.Options{})
	if out, err := tool(t, s, "ask").Output(t.Context(), call("")); err == nil {
		t.Errorf("got %+v", out)
	}
}
