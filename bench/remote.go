package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
)

// A remoteRound compares a fire whose hook is in another process with a bare call of the same transport.
type remoteRound struct {
	transport string
	runs      []timing // the fire, the bare call
}

// remoteCall is the payload of the remote fires.
var remoteCall = agent.ToolCallRequest{
	ID: "call_1", Name: "read_file", Args: json.RawMessage(`{"path":"docs/README.md","lines":40}`), Step: 3,
}

// remotes measures remote fires. A server on the loopback answers over HTTP; a command is a shell that reads its input
// and continues.
func (p pace) remotes() ([]remoteRound, error) {
	http, closeHTTP, err := overHTTP()
	if err != nil {
		return nil, err
	}
	defer closeHTTP()
	command, err := byCommand()
	if err != nil {
		return nil, err
	}
	return []remoteRound{{"HTTP", p.measure(http)}, {"a command", p.measure(command)}}, nil
}

// fireThrough returns a loop of fires at BeforeTool, where the caller has the only hook.
func fireThrough(caller wire.Caller) (func(n int), error) {
	remote, err := agent.Remote(context.Background(), caller, wire.Points("BeforeTool"))
	if err != nil {
		return nil, err
	}
	hooks := new(agent.Hooks)
	hooks.Use(remote)
	run := agent.NewRun(new(agent.Env))
	return func(n int) {
		for range n {
			call := remoteCall
			exit, err := hooks.BeforeTool.Fire(context.Background(), run, &call)
			if exit != nil || err != nil || call.ID != remoteCall.ID {
				panic(fmt.Sprintf("a quiet hook decided %v, %v about %s", exit, err, call.ID))
			}
		}
	}, nil
}

// overHTTP returns a fire over HTTP, and the least that a program would write by hand: it encodes the request and
// decodes the reply, at both ends.
func overHTTP() ([]contestant, func(), error) {
	served := new(agent.Hooks)
	served.BeforeTool.AddFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		return nil, nil
	})
	hookServer := httptest.NewServer(wirehttp.NewHandler(agent.Serve(served, nil)))
	bareServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request wire.Request
		var call agent.ToolCallRequest
		err := json.NewDecoder(r.Body).Decode(&request)
		if err == nil {
			err = json.Unmarshal(request.Payload, &call)
		}
		if err == nil {
			w.Header().Set("Content-Type", "application/json")
			err = json.NewEncoder(w).Encode(wire.Reply{Decision: "continue"})
		}
		if err != nil {
			panic(err)
		}
	}))
	closeBoth := func() { hookServer.Close(); bareServer.Close() }
	fire, err := fireThrough(wirehttp.NewCaller(hookServer.URL))
	if err != nil {
		closeBoth()
		return nil, nil, err
	}
	client := new(http.Client)
	bare := func(n int) {
		for range n {
			if err := postOnce(client, bareServer.URL); err != nil {
				panic(err)
			}
		}
	}
	return []contestant{{name: nameHookgen, loop: fire}, {name: "net/http", loop: bare}}, closeBoth, nil
}

// postOnce makes one bare call.
func postOnce(client *http.Client, url string) error {
	payload, err := json.Marshal(remoteCall)
	if err != nil {
		return err
	}
	body, err := json.Marshal(wire.Request{Protocol: 1, Spec: "bench", Point: "BeforeTool", Payload: payload})
	if err != nil {
		return err
	}
	response, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var reply wire.Reply
	return json.Unmarshal(text, &reply)
}

// byCommand returns a fire whose hook is a command, and package os/exec alone with the same command.
func byCommand() ([]contestant, error) {
	argv := []string{"sh", "-c", `cat >/dev/null; echo '{"decision":"continue"}'`}
	fire, err := fireThrough(wireexec.Command(argv))
	if err != nil {
		return nil, err
	}
	payload, err := json.Marshal(remoteCall)
	if err != nil {
		return nil, err
	}
	bare := func(n int) {
		for range n {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdin = strings.NewReader(string(payload))
			if _, err := cmd.Output(); err != nil {
				panic(err)
			}
		}
	}
	return []contestant{{name: nameHookgen, loop: fire}, {name: "os/exec", loop: bare}}, nil
}

// remoteClaims compares remote fires with their bound.
func remoteClaims(rounds []remoteRound) []claim {
	c := claim{what: "a fire whose hook is elsewhere, over a bare call of the same transport", bound: 1.3}
	for _, r := range rounds {
		c.cases = append(c.cases, held{r.transport, r.runs[0].over(r.runs[1])})
	}
	return []claim{c}
}
