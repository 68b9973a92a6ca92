package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A modelServer speaks chat completions. It plays one reply after the other.
type modelServer struct {
	mu      sync.Mutex
	replies []string // JSON of messages; "503" is an overload
	bodies  []string // of the requests
}

func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var request struct{ Stream bool }
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil || json.Unmarshal(raw, &request) != nil ||
		r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" || len(m.replies) == 0 {
		http.Error(w, `{"error":{"message":"wrong request"}}`, http.StatusBadRequest)
		return
	}
	m.bodies = append(m.bodies, string(raw))
	reply := m.replies[0]
	m.replies = m.replies[1:]
	finish := "stop"
	if strings.Contains(reply, "tool_calls") {
		finish = "tool_calls"
	}
	switch {
	case reply == "503":
		w.Header().Set("Retry-After", "0")
		http.Error(w, `{"error":{"message":"overloaded"}}`, http.StatusServiceUnavailable)
	case request.Stream:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n",
			reply, finish)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":%s,"finish_reason":%q}]}`, reply, finish)
	}
}

// says and calls return messages of a model.
func says(text string) string {
	encoded, _ := json.Marshal(text)
	return fmt.Sprintf(`{"role":"assistant","content":%s}`, encoded)
}

func calls(tool, args string) string {
	encoded, _ := json.Marshal(args)
	return fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function",`+
		`"function":{"name":%q,"arguments":%s}}]}`, tool, encoded)
}

// built builds all programs and returns a function that runs one of them in a directory of the test.
func built(t *testing.T) (
	run func(t *testing.T, dir, input string, server *modelServer, name string, args ...string) string,
) {
	t.Helper()
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(t *testing.T, dir, input string, server *modelServer, name string, args ...string) string {
		t.Helper()
		at := httptest.NewServer(server)
		defer at.Close()
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+at.URL+"/v1", "OPENAI_API_KEY=secret")
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "waits for an answer") {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		if len(server.replies) > 0 {
			t.Errorf("%s left %d replies", name, len(server.replies))
		}
		return string(out)
	}
}

func TestJobs(t *testing.T) {
	run := built(t)
	weather := sdk.NewServer(&sdk.Implementation{Name: "weather", Version: "v1"}, nil)
	type city struct{ Name string }
	sdk.AddTool(weather, &sdk.Tool{Name: "look"}, func(
		_ context.Context, _ *sdk.CallToolRequest, c city,
	) (*sdk.CallToolResult, any, error) {
		return nil, "rain in " + c.Name, nil
	})
	remote := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return weather }, nil))
	defer remote.Close()
	for _, c := range []struct {
		job     string
		args    []string
		input   string
		replies []string
		want    string // in the output
		asked   string // in the last request
	}{
		{job: "hello", replies: []string{calls("weather", `{"Name":"Bern"}`), says("Take an umbrella.")},
			want: "Take an umbrella.", asked: "rain in Bern"},
		{job: "stream", replies: []string{says("Knock, knock.")}, want: "Knock, knock.", asked: `"stream":true`},
		{job: "approval", input: "y\n", replies: []string{calls("pay", `{"Euros":1200}`), says("It is paid.")},
			want: "It is paid.", asked: "paid 1200"},
		{job: "approval", input: "n\n", replies: []string{calls("pay", `{"Euros":1200}`), says("You said no.")},
			want: "You said no.", asked: "denied"},
		{job: "structured", replies: []string{says("the number is A7"), says(`{"Number":"A7","Euros":12}`)}, want: "A7 12",
			asked: "json_schema"},
		{job: "mcptools", args: []string{remote.URL},
			replies: []string{calls("weather__look", `{"Name":"Bern"}`), says("Take an umbrella.")},
			want:    "Take an umbrella.", asked: "rain in Bern"},
		{job: "tracing", replies: []string{says("Knock, knock.")}, want: "Knock, knock.", asked: "joke"},
		{job: "guard", want: "I do not talk about passwords."},
		{job: "handoff", replies: []string{calls("transfer_to_billing", `{}`), says("You called Japan.")},
			want: "billing says: You called Japan.", asked: "control goes to billing"},
		{job: "fallback", replies: []string{"503", says("Knock, knock.")}, want: "Knock, knock.", asked: `"gpt-5"`},
	} {
		t.Run(c.job, func(t *testing.T) {
			server := &modelServer{replies: c.replies}
			out := run(t, t.TempDir(), c.input, server, c.job, c.args...)
			last := ""
			if n := len(server.bodies); n > 0 {
				last = server.bodies[n-1]
			}
			if !strings.Contains(out, c.want) || !strings.Contains(last, c.asked) {
				t.Errorf("printed\n%s\nwant %q; the last request is\n%s\nwant %q", out, c.want, last, c.asked)
			}
			if c.job == "tracing" && !strings.Contains(out, "SpanContext") {
				t.Errorf("no span was exported:\n%s", out)
			}
		})
	}
	t.Run("conversation", func(t *testing.T) {
		dir, server := t.TempDir(), &modelServer{replies: []string{says("Hello, Ann.")}}
		run(t, dir, "", server, "conversation", "I am Ann.")
		server.replies = []string{says("Ann.")}
		if out := run(t, dir, "", server, "conversation", "Who am I?"); !strings.Contains(out, "Ann.") ||
			!strings.Contains(server.bodies[1], "I am Ann.") {
			t.Errorf("printed\n%s\nthe second request is %s", out, server.bodies[1])
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		dir, server := t.TempDir(), &modelServer{replies: []string{calls("pay", `{"Euros":1200}`)}}
		out := run(t, dir, "", server, "elsewhere")
		args := regexp.MustCompile(`run (\S+), question (\S+), digest (\w+)`).FindStringSubmatch(out)
		if args == nil {
			t.Fatalf("printed\n%s", out)
		}
		server.replies = []string{says("It is paid.")}
		if out := run(t, dir, "", server, "elsewhere", args[1:]...); !strings.Contains(out, "It is paid.") {
			t.Errorf("printed\n%s", out)
		}
	})
}

// TestEachJobHasSixteenLines counts the lines without package, imports, comments above them and blank lines.
func TestEachJobHasSixteenLines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("*", "main.go"))
	if err != nil || len(files) != 11 {
		t.Fatalf("%d jobs, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		begin := 0
		for _, d := range syntax.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
				begin = fset.Position(d.End()).Line
			}
		}
		n := 0
		for i, line := range strings.Split(string(text), "\n") {
			if width := len(strings.ReplaceAll(line, "\t", "    ")); width > 100 {
				t.Errorf("%s:%d has %d columns", file, i+1, width)
			}
			if i >= begin && strings.TrimSpace(line) != "" {
				n++
			}
		}
		t.Logf("%s: %d lines", filepath.Dir(file), n)
		if n > 16 {
			t.Errorf("%s has %d lines, want at most 16", file, n)
		}
	}
}
