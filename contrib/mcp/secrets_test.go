package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

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
