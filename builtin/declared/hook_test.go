package declared_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// declare returns a file with one hook at OnPermission.
func declare(kind, value, more string) string {
	return fmt.Sprintf(`{"hooks": [{"name": "guard", "at": ["OnPermission"], %q: %s%s}]}`, kind, value, more)
}

const (
	deny     = `printf '{"decision":"Deny","value":{"Reason":"no"}}'`
	proceeds = `printf '{"decision":"continue"}'`
)

func TestACommandDecides(t *testing.T) {
	for _, c := range []struct{ name, script, more, want string }{
		{"continues", proceeds, "", "allow"},
		{"denies", deny, "", "deny: no"},
		{"reads the call", `grep -q '"name":"work"' && ` + deny, "", "deny: no"},
		{"reads the arguments", `grep -q '"n":7' && ` + deny, "", "deny: no"},
		{"is selected by the tool", deny, `, "tools": ["other", "w*"]`, "deny: no"},
		{"is not selected by the tool", deny, `, "tools": ["other"]`, "allow"},
		{"is selected by the arguments", deny, `, "when": "args.n > 5"`, "deny: no"},
		{"is not selected by the arguments", deny, `, "when": "args.n > 9"`, "allow"},
		{"is asked if the expression fails", deny, `, "when": "args.n startsWith 'a'"`, "deny: no"},
		{"is enabled", deny, `, "enabled": true`, "deny: no"},
		{"is not enabled", deny, `, "enabled": false`, "allow"},
		{"has a clean environment", `test -z "$EXTERNAL_SECRET" && ` + deny, "", "deny: no"},
		{"has variables of the file", `test "$A" = "b hidden" && ` + deny, `, "env": {"A": "b ${EXTERNAL_SECRET}"}`,
			"deny: no"},
		{"runs in the directory of the file", `test -f hooks.json && ` + deny, "", "deny: no"},
		{"runs in another directory", `test -f ../hooks.json && ` + deny, `, "dir": "sub"`, "deny: no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("EXTERNAL_SECRET", "hidden")
			f := file(t, declare("command", script(t, c.script), c.more))
			if err := os.Mkdir(filepath.Join(filepath.Dir(f.Path), "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			if got := permit(t, load(t, f), "work", `{"n":7}`); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNoShellReadsCommandArguments(t *testing.T) {
	f := file(t, `{"hooks": [{"name": "g", "at": ["OnPermission"], "command": ["printf", "%s$(touch pwned)`+
		"`touch pwned`"+`", "{\"decision\":\"continue\"}"]}]}`)
	got := permit(t, load(t, f), "$(touch pwned)", `{"x":"$(touch pwned)"}`)
	if !strings.HasPrefix(got, "error: ") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(f.Path), "pwned")); err == nil {
		t.Error("a shell has read the arguments")
	}
}

// A failing hook refuses, or with "on_failure": "continue" it is reported. Both name the hook and the cause.
func TestACommandFails(t *testing.T) {
	for _, c := range []struct{ name, script, cause string }{
		{"exits with a status", `echo broken >&2; exit 3`, "exit status 3"},
		{"says why", `echo broken >&2; exit 3`, "broken"},
		{"exits 2 after a reply", proceeds + `; exit 2`, "exit status 2"},
		{"is killed", `kill -9 $$`, "killed"},
		{"dies in the middle of the reply", `printf '{"decision":"cont'; kill -9 $$`, "killed"},
		{"writes nothing", `true`, "wrote"},
		{"writes half a reply", `printf '{"decision":"cont'`, "unexpected"},
		{"writes logs before the reply", `echo starting; ` + proceeds, "invalid character"},
		{"writes logs after the reply", proceeds + `; echo done`, "after"},
		{"answers twice", proceeds + ";" + proceeds, "after"},
		{"answers with two decisions", `printf '{"decision":"Deny","decision":"continue"}'`, "twice"},
		{"writes garbage", `printf '\377\376 ok'`, "not UTF-8"},
		{"says true", `printf true`, "wrote"},
		{"says null", `printf null`, ""},
		{"writes an unknown decision", `printf '{"decision":"allow"}'`, `"allow"`},
		{"writes an unknown field", `printf '{"decision":"continue","allow":true}'`, "allow"},
		{"writes an unknown field of the exit", `printf '{"decision":"Deny","value":{"reasons":"x"}}'`, "reasons"},
		{"writes a decision of another point", `printf '{"decision":"SkipTool"}'`, "SkipTool"},
		{"reports an error", `printf '{"error":"no database"}'`, "no database"},
		{"writes too much", `yes | head -c 9000000`, "more than"},
		{"writes without an end", `yes`, "more than"},
		{"answers too late", `sleep 3600; ` + proceeds, "no reply within"},
		{"leaves a child that keeps the output", `sleep 3600 & echo x`, "wrote"},
		{"looks like a reply", "printf '{\"\\\\u0064ecision\":\"continue\\\\u200b\"}'", "continue"},
		{"has a byte order mark", `printf '\357\273\277{"decision":"continue"}'`, "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := `, "timeout_seconds": 20`
			if strings.Contains(c.script, "3600;") {
				limit = `, "timeout_seconds": 0.2`
			}
			command := script(t, c.script)
			got := permit(t, load(t, file(t, declare("command", command, limit))), "work", `{}`)
			want := []string{`the hook "guard" (sh) failed at OnPermission after `, c.cause}
			for _, w := range want {
				if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, w) {
					t.Errorf("got %q, want %q", got, w)
				}
			}
			var reported []string
			f := file(t, declare("command", command, limit+`, "on_failure": "continue"`))
			f.OnError = func(err error) { reported = append(reported, err.Error()) }
			if got := permit(t, load(t, f), "work", `{}`); got != "allow" || len(reported) != 1 ||
				!strings.Contains(reported[0], want[0]) || !strings.Contains(reported[0], want[1]) {
				t.Errorf("got %q, reported %q", got, reported)
			}
		})
	}
	t.Run("is not installed", func(t *testing.T) {
		got := permit(t, load(t, file(t, declare("command", `["no-such-program-here"]`, ""))), "work", `{}`)
		if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "no-such-program-here") {
			t.Errorf("got %q", got)
		}
	})
}

func TestAFailureAtAFailOpenPoint(t *testing.T) {
	for _, c := range []struct{ more, want string }{{``, "<nil>"}, {`, "on_failure": "refuse"`, "exit status 1"}} {
		t.Run(c.want, func(t *testing.T) {
			hooks := load(
				t,
				file(t, `{"hooks": [{"name": "g", "at": ["OnRunError"], "command": `+script(t, "exit 1")+c.more+`}]}`),
			)
			var failures int
			hooks.HandleFailures(func(context.Context, *hookkit.Failure) { failures++ })
			_, err := hooks.OnRunError.Fire(t.Context(), agent.NewRun(nil), agent.RunError{})
			if !strings.Contains(fmt.Sprint(err), c.want) || (err == nil) != (failures == 1) {
				t.Errorf("error %v, %d failures", err, failures)
			}
		})
	}
}

func TestEveryTextReachesACommandUnchanged(t *testing.T) {
	texts := []string{
		"a\x00b",
		"\u202etxt",
		"\u2028",
		"é\u0301",
		"\U0001F600",
		"\\u0000",
		"</script>",
		"$(id)",
		"'; rm -rf /",
		"\ufeff",
		"\ufffd",
	}
	for _, text := range texts {
		f := file(t, `{"hooks": [{"name": "echo", "at": ["OnRunStart"], "command": `+
			script(t, `sed 's/.*"payload":\(.*\)}$/{"decision":"replace","value":\1}/'`)+`}]}`)
		start := agent.RunStart{Task: text}
		exit, by, err := load(t, f).OnRunStart.FireBy(t.Context(), agent.NewRun(nil), &start)
		if err != nil || exit != nil || start.Task != text || by.Hook != "echo" {
			t.Errorf("%q became %q (%v by %+v)", text, start.Task, err, by)
		}
	}
}

func TestAnEndpointDecides(t *testing.T) {
	var policy agent.Hooks
	policy.OnPermission.AddFunc(
		func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			if c.Name == "rm" {
				return agent.Deny{Reason: "policy"}, nil
			}
			return nil, nil
		},
	)
	reply := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	other := httptest.NewServer(wirehttp.NewHandler(agent.Serve(&agent.Hooks{}, nil)))
	defer other.Close()
	stalled := make(chan struct{})
	defer close(stalled)
	const proceed, text = `{"decision":"continue"}`, "application/json"
	for _, c := range []struct {
		name    string
		handler http.Handler
		more    string
		want    string
	}{
		{"service", wirehttp.NewHandler(agent.Serve(&policy, nil)), "", "deny: policy"},
		{"header from the environment", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer hidden" {
				w.WriteHeader(http.StatusUnauthorized)
			}
			reply(200, text, proceed)(w, r)
		}), `, "headers": {"Authorization": "Bearer ${EXTERNAL_SECRET}"}`, "allow"},
		{"redirect", http.RedirectHandler(other.URL, http.StatusTemporaryRedirect), "", "307"},
		{"error", reply(500, text, proceed), "", "500"},
		{"no content", reply(204, text, ""), "", "204"},
		{"page of a proxy", reply(200, "text/html", "<html>log in</html>"), "", "text/html"},
		{"other protocol", reply(200, text, `{"jsonrpc":"2.0","result":{"allow":true}}`), "", "jsonrpc"},
		{"two replies", reply(200, text, proceed+proceed), "", "after"},
		{"too long", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", text)
			_, _ = io.WriteString(w, strings.Repeat(" ", 5<<20)+proceed)
		}), "", "more than"},
		{"stalled", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the end of the connection
			select {
			case <-stalled:
			case <-r.Context().Done():
			}
		}), `, "timeout_seconds": 0.2`, "no reply within"},
		{"stalled body", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", text)
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, `{"decision":`)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-stalled:
			case <-r.Context().Done():
			}
		}), `, "timeout_seconds": 0.2`, "no reply within"},
		{"closed connection", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "",
			"EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("EXTERNAL_SECRET", "hidden")
			server := httptest.NewServer(c.handler)
			defer server.Close()
			f := file(t, declare("url", `"`+server.URL+`/hooks?key=secret"`, c.more))
			got := permit(t, load(t, f), "rm", `{}`)
			if !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !strings.HasPrefix(c.want, "deny") && c.want != "allow" &&
				!strings.Contains(got, `the hook "guard" (`+server.URL+`/hooks) failed`) {
				t.Errorf("the error does not name the hook and the URL: %q", got)
			}
		})
	}
}

// echo is a model that replies with its only text, or fails.
type echo struct{ text string }

func (e echo) Generate(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
	switch e.text {
	case "fail":
		return agent.LLMResponse{}, errors.New("overloaded")
	case "stall":
		<-ctx.Done()
		return agent.LLMResponse{}, ctx.Err()
	}
	return agent.LLMResponse{Content: e.text}, nil
}

func TestAPromptDecides(t *testing.T) {
	for _, c := range []struct{ reply, want string }{
		{`{"ok": true}`, "allow"},
		{"ok", "not one JSON object"}, {"\n```{\"ok\": true}``` ", "allow"},
		{"```json\n{\"ok\": true}\n```", "allow"}, {"```\n{\"ok\": false, \"reason\": \"r\"}\n```", "deny: r"},
		{`{"ok": false, "reason": "risky"}`, "deny: risky"},
		{`{"ok": false}`, "deny: a model refused without a reason"},
		{`{}`, `no "ok"`}, {`{"ok": "true"}`, "bool"}, {`{"ok": null}`, `no "ok"`}, {`{"ok": true, "ok": false}`, "twice"},
		{`I think it is ok`, "invalid"}, {`No, {"ok": true} would be wrong`, "invalid"}, {``, "cannot be read"},
		{"```json\n{\"ok\": true}", "code fence"}, {`{"ok": true} {"ok": false}`, "after"}, {"fail", "overloaded"},
		{"stall", "no reply within"},
	} {
		t.Run(c.reply, func(t *testing.T) {
			limit := ""
			if c.reply == "stall" {
				limit = `, "timeout_seconds": 0.2`
			}
			f := file(t, declare("prompt", `"May it run?"`, limit))
			f.Models = map[string]agent.Model{"": echo{c.reply}}
			if got := permit(t, load(t, f), "work", `{}`); !strings.Contains(got, c.want) ||
				strings.HasPrefix(got, "allow") != (c.want == "allow") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAPromptRefusesAtItsPoints(t *testing.T) {
	for _, point := range []string{"OnRunStart", "BeforeLLM", "AfterLLM", "BeforeTool", "OnPermission", "BeforeAsk",
		"OnHandoff", "CheckDone"} {
		t.Run(point, func(t *testing.T) {
			f := file(t, `{"hooks": [{"name": "judge", "at": ["`+point+`"], "prompt": "ok?", "model": "small"}]}`)
			f.Models = map[string]agent.Model{"small": echo{`{"ok": false, "reason": "never"}`}}
			for _, p := range load(t, f).Points() {
				if p.Name != point {
					continue
				}
				fired, err := p.Fire(t.Context(), p.NewRun(), p.New())
				if err != nil || !strings.Contains(fmt.Sprintf("%+v", fired.Exit), "never") || fired.Hook != "judge" {
					t.Errorf("%+v, %v", fired, err)
				}
			}
		})
	}
}

func TestAPromptShowsThePayload(t *testing.T) {
	model := looptest.NewScript(looptest.Reply(`{"ok": true}`))
	f := file(t, declare("prompt", `"Is the city in Europe?"`, ""))
	f.Models = map[string]agent.Model{"": model}
	permit(t, load(t, f), "weather", `{"city":"Oslo"}`)
	asked := model.Requests()[0].Messages
	if text := asked[1].Content; !strings.Contains(text, "Is the city in Europe?") ||
		!strings.Contains(text, `{"city":"Oslo"}`) {
		t.Errorf("the model read %q", text)
	}
}

// A model that reads the beginning and the end of a call cannot judge the middle.
func TestAPromptJudgesWholeCalls(t *testing.T) {
	model := looptest.NewScript(looptest.Reply(`{"ok": true}`), looptest.Reply(`{"ok": true}`))
	f := file(t, `{"hooks": [{"name": "judge", "at": ["OnPermission", "AfterLLM"], "prompt": "ok?"}]}`)
	f.Models = map[string]agent.Model{"": model}
	hooks, long := load(t, f), strings.Repeat("é", 20_000)
	if got := permit(t, hooks, "work", `{"text":"`+long+`"}`); !strings.Contains(got, "more than a prompt can judge") ||
		!strings.Contains(got, `the hook "judge" (model) failed`) || len(model.Requests()) > 0 {
		t.Errorf("got %q after %d requests", got, len(model.Requests()))
	}
	empty, err := json.Marshal(agent.ToolCallRequest{ID: "1", Name: "work", Args: json.RawMessage(`""`)})
	if err != nil {
		t.Fatal(err)
	}
	longest := `"` + strings.Repeat("é", 20_000-len(empty)) + `"`
	if got := permit(t, hooks, "work", longest); got != "allow" || len(model.Requests()) != 1 {
		t.Errorf("a call of 20000 characters: %.200s after %d requests", got, len(model.Requests()))
	}
	if exit, err := hooks.AfterLLM.Fire(t.Context(), agent.NewRun(nil), &agent.LLMResponse{Content: long}); exit != nil ||
		err != nil || len(model.Requests()) != 2 {
		t.Errorf("got %v, %v after %d requests", exit, err, len(model.Requests()))
	}
}

// A prompt without a model asks the model of the run, and then its calls and tokens count towards the run. The calls of
// a model of the program's own do not.
func TestAPromptCountsTowardsTheRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		models map[string]agent.Model
		turns  []looptest.Turn
		calls  int
	}{
		{"model of the run", nil, []looptest.Turn{
			looptest.Call("work", `{}`), looptest.Reply(`{"ok": false, "reason": "risky"}`), looptest.Reply("done"),
		}, 3},
		{"model of the program", map[string]agent.Model{"": echo{`{"ok": false, "reason": "risky"}`}}, []looptest.Turn{
			looptest.Call("work", `{}`), looptest.Reply("done"),
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := file(t, declare("prompt", `"May it run?"`, ""))
			f.Models = c.models
			for i := range c.turns {
				c.turns[i] = c.turns[i].Uses(agent.Usage{Input: 100, Output: 10})
			}
			ran := looptest.Harness{
				Turns: c.turns, Tools: []agent.Tool{work()}, Agent: &loop.Agent{Hooks: load(t, f)},
			}.Run(t, "x")
			if ran.Reply != "done" || ran.Calls[0].Reason != "risky" || ran.ModelCalls != c.calls ||
				ran.Usage.Total() != 110*c.calls {
				t.Errorf("reply %q, reason %q, %d model calls, %+v", ran.Reply, ran.Calls[0].Reason, ran.ModelCalls, ran.Usage)
			}
		})
	}
	t.Run("no model", func(t *testing.T) {
		got := permit(t, load(t, file(t, declare("prompt", `"May it run?"`, ""))), "work", `{}`)
		if !strings.Contains(got, "the run has no model to ask") {
			t.Errorf("got %q", got)
		}
	})
}

func TestReadyHooks(t *testing.T) {
	ran := func(t *testing.T, use string) *looptest.Ran {
		t.Helper()
		hooks := load(t, file(t, `{"hooks": [{"name": "a", `+use+`}]}`))
		return looptest.Harness{
			Turns: []looptest.Turn{looptest.Call("work", `{}`), looptest.Call("work", `{"a":1}`), looptest.Reply("ok")},
			Tools: []agent.Tool{work()}, Agent: &loop.Agent{Hooks: hooks},
		}.Run(t, "x")
	}
	t.Run("bound", func(t *testing.T) {
		if r := ran(t, `"use": "limit.Steps", "with": {"Max": 1}`); r.Steps != 1 || r.Stop.By != "a" {
			t.Errorf("%d steps, stopped by %+v", r.Steps, r.Stop)
		}
	})
	t.Run("no bound", func(t *testing.T) {
		if r := ran(t, `"use": "limit.Steps", "with": {"Max": "none"}`); r.Reply != "ok" {
			t.Errorf("reply %q", r.Reply)
		}
	})
	t.Run("duration", func(t *testing.T) {
		if r := ran(t, `"use": "limit.Time", "with": {"Max": "1h"}, "timeout_seconds": 5`); r.Reply != "ok" {
			t.Errorf("reply %q", r.Reply)
		}
	})
	t.Run("list of texts", func(t *testing.T) {
		if r := ran(t, `"use": "permission.DenyTools", "with": {"Deny": ["work"], "Reason": "never"}`); r.Calls[0].By != "a" {
			t.Errorf("%+v", r.Calls[0])
		}
	})
	t.Run("map", func(t *testing.T) {
		r := ran(t, `"use": "prompt.Staged", "with": {"Stages": {"2": "now or never"}}, "priority": 7`)
		if !strings.Contains(fmt.Sprint(r.Script.Requests()[1].Messages), "now or never") {
			t.Errorf("the model read %v", r.Script.Requests()[1].Messages)
		}
	})
}

// kinds has a field of each kind that a file can set.
type kinds struct {
	Duration time.Duration
	Pause    limit.Bound[time.Duration]
	Most     limit.Bound[int]
	Level    *slog.Level // a TextUnmarshaler
	Raw      json.RawMessage
	Nested   *struct{ N []int }
	Names    map[string]limit.Bound[int]
	embedded

	hidden int
}

type embedded struct {
	Inner int `json:"-"`
}

func (k *kinds) Bind(h *agent.Hooks) {
	k.hidden++
	set = *k
	h.OnRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) error { return nil })
}

// set has the values of the last file.
var set kinds

func TestFilesSetFieldsOfEachKind(t *testing.T) {
	for _, c := range []struct{ with, want string }{
		{`{}`, `{"Duration":0,"Pause":0,"Most":0,"Level":null,"Raw":null,"Nested":null,"Names":null}`},
		{`{"Duration": "2s", "Pause": "3s", "Most": 4, "Level": "WARN", "Raw": [1], "Nested": {"N": [5, 6]},
			"Names": {"a": 1, "b": "none"}}`,
			fmt.Sprintf(`{"Duration":2000000000,"Pause":3000000000,"Most":4,"Level":"WARN","Raw":[1],"Nested":{"N":[5,6]},`+
				`"Names":{"a":1,"b":%d}}`, int64(limit.None))},
		{`{"Pause": "none", "Most": "none"}`, fmt.Sprintf(`{"Duration":0,"Pause":%[1]d,"Most":%[1]d,"Level":null,`+
			`"Raw":null,"Nested":null,"Names":null}`, int64(limit.None))},
		{`{"Most": 0}`, fmt.Sprintf(`{"Duration":0,"Pause":0,"Most":%d,"Level":null,"Raw":null,"Nested":null,"Names":null}`,
			limit.AtMost(0))},
		{`{"Duration": 2}`, "1:77: a duration such as"},
		{`{"Pause": "x"}`, "1:74: a duration such as"},
		{`{"Most": "x"}`, `1:73: a whole number or "none" is needed here`},
		{`{"Most": 1.5}`, `1:73: a whole number or "none" is needed here`},
		{`{"Level": "loud"}`, "1:74: a slog.Level is needed here"},
		{`{"Nested": {"N": [1, "x"]}}`, "1:85: a int is needed here"},
		{`{"Names": {"a": "x"}}`, `1:80: a whole number or "none" is needed here`},
		{`{"hidden": 1}`, `1:65: unknown key "hidden"`},
		{`{"Inner": 1}`, `1:65: unknown key "Inner"; use the keys Duration, Pause, Most, Level, Raw, Nested, Names`},
	} {
		t.Run(c.with, func(t *testing.T) {
			f := file(t, `{"hooks": [{"name": "a", "use": "declared_test.kinds", "with": `+c.with+`}]}`)
			f.Ready = []declared.Ready{declared.Of[kinds]()}
			err := f.Load(new(agent.Hooks))
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error is %v, want %s", err, c.want)
				}
				return
			}
			if got, _ := json.Marshal(set); string(got) != c.want {
				t.Errorf("set\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func TestReadyHooksHaveThePriorityOfFile(t *testing.T) {
	hooks := load(t, file(t, `{"hooks": [
		{"name": "late", "use": "permission.DenyTools", "with": {"Deny": ["x"]}, "priority": -7},
		{"name": "early", "use": "permission.DenyTools", "with": {"Deny": ["x"]}, "priority": 700, "timeout_seconds": 9}]}`))
	list := hooks.OnPermission.List()
	if len(list) != 2 || list[0].Name != "early" || list[0].Priority != 700 || list[0].Timeout != 9*time.Second ||
		list[1].Priority != -7 || list[1].Timeout != 0 {
		t.Errorf("the hooks are %+v", list)
	}
}

func TestDeclaredHooksAreConformant(t *testing.T) {
	f := file(t, `{"hooks": [
		{"name": "command", "at": ["OnPermission"], "command": `+script(t, "cat >/dev/null;"+proceeds)+`,
			"when": "args.n > 1"},
		{"name": "prompt", "at": ["CheckDone"], "prompt": "ok?"},
		{"name": "steps", "use": "limit.Steps"}]}`)
	f.Models = map[string]agent.Model{"": echo{`{"ok": true}`}}
	hooktest.Check(t, func() []hookkit.AnyPoint {
		one := &declared.File{Path: f.Path, Ready: ready(), Models: f.Models}
		return load(t, one).Points()
	})
}

func TestACommandContributes(t *testing.T) {
	hooks := load(t, file(t, `{"hooks": [{"name": "news", "at": ["Briefing"], "command": `+
		script(t, `printf '{"decision":"continue","collected":["one","two"]}'`)+`}]}`))
	texts := hooks.Briefing.Fire(t.Context(), agent.NewRun(nil), agent.Step{})
	if fmt.Sprint(texts) != "[one two]" {
		t.Errorf("the texts are %q", texts)
	}
}

func TestRecordsNameTheHookThatFailed(t *testing.T) {
	hooks := load(t, file(t, declare("command", script(t, "exit 7"), "")))
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", `{}`), looptest.Reply("ok")},
		Tools: []agent.Tool{work()}, Agent: &loop.Agent{Hooks: hooks},
	}.Run(t, "x")
	c := ran.Calls[0]
	if c.Status != agent.CallRefused || c.By != "guard" ||
		!strings.Contains(c.Reason, `"guard" (sh) failed at OnPermission`) ||
		!strings.Contains(c.Reason, "exit status 7") {
		t.Errorf("recorded %+v", c)
	}
}

// The model reads that a hook failed. The operator reads which one, where it is declared, and why.
func TestTheModelReadsNoAddress(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	for _, point := range []string{"BeforeTool", "OnPermission", "AfterTool", "CheckDone"} {
		t.Run(point, func(t *testing.T) {
			f := file(t, "{\"hooks\": [\n\t"+
				`{"name": "policy", "at": ["`+point+`"], "url": "http://`+address+`/hooks"}]}`)
			hooks := load(t, f)
			var failed []string
			hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { failed = append(failed, f.Error()) })
			for _, p := range hooks.Points() {
				for _, i := range p.Hooks() {
					if want := f.Path + ":2:2"; i.Site != want {
						t.Errorf("registered at %s, want %s", i.Site, want)
					}
				}
				if p.Name == point {
					_, err := p.Fire(t.Context(), p.NewRun(), p.New())
					want := fmt.Sprintf("%s: hook policy (%s:2:2): the hook \"policy\" (http://%s/hooks) failed at %s after ",
						point, f.Path, address, point)
					if !strings.HasPrefix(fmt.Sprint(err), want) {
						t.Errorf("the fire returned %v, want %s", err, want)
					}
				}
			}
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("work", `{}`), looptest.Reply("ok"), looptest.Reply("ok")},
				Tools: []agent.Tool{work()}, Agent: &loop.Agent{Hooks: hooks, Limits: loop.Limits{Rejections: 2}},
			}.Run(t, "x")
			text := fmt.Sprint(ran.Script.Requests()[1:])
			if !strings.Contains(text, "a hook failed") || strings.Contains(text, "connection refused") ||
				strings.Contains(text, address) || strings.Contains(text, f.Path) {
				t.Errorf("the model read %s", text)
			}
		})
	}
}
