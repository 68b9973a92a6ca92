package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
)

const key = "sk-0123456789abcdef"

// printed returns all ways to print a value.
func printed(v any) string {
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("text", "v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("json", "v", v)
	encoded, _ := json.Marshal(v)
	return fmt.Sprintf("%v %+v %#v %s %q %x", v, v, v, v, v, v) + b.String() + string(encoded)
}

func TestKeysAreNotPrinted(t *testing.T) {
	server := listening(t, &wire{tools: oneTool})
	command := child(t, "serve", "KEY="+key)
	command.Args = append(command.Args, "--key="+key)
	remote := mcp.HTTP{URL: server.URL + "/?key=" + key, Header: http.Header{"Authorization": {"Bearer " + key}}}
	for name, v := range map[string]any{
		"command": command, "http": remote, "server of a command": connect(t, command, mcp.Options{}),
		"server of http": connect(t, remote, mcp.Options{}), "list": []any{command, remote},
		"tool": connect(t, remote, mcp.Options{}).Tools()[0],
	} {
		t.Run(name, func(t *testing.T) {
			if got := printed(v); strings.Contains(got, key) || strings.Contains(got, fmt.Sprintf("%x", key)) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestKeysAreNotInErrors(t *testing.T) {
	closed := listening(t, http.NotFoundHandler())
	closed.Close()
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.Header.Get("Authorization"), http.StatusTeapot)
	})
	for name, url := range map[string]string{
		"nobody listens": closed.URL, "server repeats the key": listening(t, echo).URL, "bad host": "http://no host",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mcp.Connect(t.Context(), "test", mcp.HTTP{
				URL: url + "/?key=" + key, Header: http.Header{"Authorization": {"Bearer " + key}},
			}, mcp.Options{})
			for ; err != nil; err = errors.Unwrap(err) {
				if strings.Contains(err.Error(), key) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// A tool fails with a text that repeats the arguments or the path.
func TestErrorsKeepPublicTextsOnly(t *testing.T) {
	for name, c := range map[string]struct {
		args []string // of a command
		path string   // of a URL
		want string   // the text that remains
	}{
		"flag":                     {args: []string{"--api-key=" + key}},
		"flag and value":           {args: []string{"--token", "hunter2"}},
		"header":                   {args: []string{"--header", "Authorization: Bearer hunter2"}},
		"setting":                  {args: []string{"DATABASE=" + key}},
		"argument":                 {args: []string{"-y", key}},
		"password of a URL":        {args: []string{"postgres://ann:hunter2@localhost/db"}},
		"query of a URL":           {args: []string{"--url=https://localhost/?k=hunter2"}},
		"path of a URL":            {path: "/v1/" + key + "/mcp", want: "/v1/"},
		"escaped path":             {path: "/v1/sk%2D0123456789abcdef/mcp", want: "/v1/"},
		"a directory is no secret": {args: []string{"/project/2026-01-02-summary"}, want: "/project/2026-01-02"},
		"a package is no secret":   {args: []string{"-y", "@example/server-files"}, want: "@example/server-files"},
		"a path is no secret":      {path: "/v1/weather/mcp", want: "/v1/weather/mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			var to mcp.Transport
			name := "look"
			if c.args != nil {
				command := child(t, "complain")
				command.Args = append(command.Args, c.args...)
				to, name = command, "complain"
			} else {
				repeated, err := url.PathUnescape(c.path)
				if err != nil {
					t.Fatal(err)
				}
				w := &wire{tools: oneTool, call: func(http.ResponseWriter) string {
					return fmt.Sprintf(`{"isError":true,"content":[{"type":"text","text":"no %s, %s"}]}`, c.path, repeated)
				}}
				to = mcp.HTTP{URL: listening(t, w).URL + c.path}
			}
			_, err := tool(t, connect(t, to, mcp.Options{}), name).Call(t.Context(), call(""))
			if err == nil || strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "hunter2") ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func init() {
	// A server whose tool fails with the arguments of the process.
	other["complain"] = func(s *sdk.Server) {
		add(s, "complain", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			result := text("bad arguments: " + strings.Join(os.Args[1:], " "))
			result.IsError = true
			return result, nil
		})
	}
}

func TestKeysDoNotFollowARedirect(t *testing.T) {
	var reached atomic.Bool
	thief := listening(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	server := listening(t, http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	_, err := mcp.Connect(t.Context(), "test", mcp.HTTP{
		URL: server.URL, Header: http.Header{"Authorization": {key}},
	}, mcp.Options{})
	if err == nil || !strings.Contains(err.Error(), "another host") || reached.Load() {
		t.Errorf("reached %v, %v", reached.Load(), err)
	}
}

func TestHeadersReachTheServer(t *testing.T) {
	w := &wire{tools: oneTool}
	server := listening(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != key {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.ServeHTTP(rw, r)
	}))
	connect(t, mcp.HTTP{URL: server.URL, Header: http.Header{"authorization": {key}}}, mcp.Options{})
}

func TestAChildGetsAMinimalEnvironment(t *testing.T) {
	t.Setenv("MODEL_KEY", key)
	s := connect(t, child(t, "serve", "GIVEN=yes"), mcp.Options{})
	out, err := tool(t, s, "environment").Call(t.Context(), call(""))
	if err != nil || strings.Contains(out, key) || !strings.Contains(out, "GIVEN=yes") || !strings.Contains(out, "PATH=") {
		t.Errorf("got %s, %v", out, err)
	}
}
