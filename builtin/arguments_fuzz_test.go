package builtin

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
)

// hostileJSON are values that decoders of JSON disagree about, and what is none.
var hostileJSON = []string{
	``, ` `, `null`, `{}`, `[]`, `0`, `-0.0e-0`, `1e400`, `-1e-400`, `9223372036854775808`, `1e9999999999999999999`, `"\ud800"`, `"\u0000"`,
	"\"\xff\"", "\xff", `{"a":1,"a":2}`, `{"a":1,"A":2,"\u0061":3}`, `{"":{"":[]}}`, `{"a":1} {"b":2}`, `{"a":1,}`, `[1,2`, "\ufeff{}", `tru`, `{"a":NaN}`,
	strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200), strings.Repeat(`{"a":`, 200), strings.Repeat(`[`, 20_000),
}

// FuzzCallArguments gives a call with any arguments to all that look into them.
func FuzzCallArguments(f *testing.F) {
	for _, s := range append([]string{
		`{"path":"/etc/passwd","force":true,"n":12345678901234567890}`, `{"command":"ls; rm -rf /","cwd":"/tmp"}`, `{"Command":["sh","-c","a b"],"in":{"command":"c"}}`,
		`{"__theory__":"it is the cache","path":"a"}`, `{"__theory__":null,"__theory__":[1,{"x":"<&>"}]}`, `"__theory__"`,
		`{"__theory__":"a\nb","__THEORY__":"c"}`, `{"__theory__":"a","__Theory__":5}`,
		`{"key":"result-0123456789abcdef","offset":1e1}`, `{"key":"result-0123456789abcdef","offset":-1e300}`, `{"password":"hunter2","in":[{"api_key":1}]}`,
	}, hostileJSON...) {
		f.Add([]byte(s))
	}
	store := new(MapStore)
	const kept = "a résumé of 24 characters"
	if err := store.Put(f.Context(), "result-0123456789abcdef", []byte(kept)); err != nil {
		f.Fatal(err)
	}
	recall := RecallTool{Store: store, MaxChars: 10}
	f.Fuzz(func(t *testing.T, args []byte) {
		call := agent.ToolCallRequest{ID: "1", Name: "t", Args: args}
		valid := json.Valid(args)
		canonicalHolds(t, args, valid)
		permissionHolds(t, call, valid)

		for _, found := range commandsIn(args, []string{"command"}) {
			for _, text := range append(found.words, found.text) {
				if valid && !bytes.ContainsRune(args, '\\') && utf8.Valid(args) && !bytes.Contains(args, []byte(text)) {
					t.Errorf("%s holds no command %q", args, text)
				}
			}
		}
		if hidden := []byte(`[` + string(args) + `,{"COMMAND":"rm -rf /"}]`); json.Valid(hidden) {
			found := commandsIn(hidden, []string{"command"})
			if len(found) == 0 || found[len(found)-1].text != "rm -rf /" {
				t.Errorf("behind %s a command is overlooked", args)
			}
		}

		note := new(TheoryNote)
		if rest, theory := note.split(args); theory != nil {
			before, _ := members(args, -1)
			after, ok := members(rest, -1)
			if _, again := note.split(rest); again != nil || !ok || !json.Valid(rest) || !json.Valid(theory) || len(after) >= len(before) {
				t.Errorf("without its theory %s, %s is %s", theory, args, rest)
			}
		}

		checkpointHolds(t, call)

		names := argumentNames([]agent.Message{{ToolCalls: []agent.ToolCallRequest{call, call}}})
		for i, name := range names {
			if !couldBeName(name) || i >= maxNames {
				t.Errorf("%q is name %d of %s", name, i, args)
			}
		}

		r := new(Redactor)
		once := r.raw(args)
		if valid != json.Valid(once) && len(args) > 0 {
			t.Errorf("redacted, %s is %s", args, once)
		}

		piece, err := recall.Call(t.Context(), call)
		var refused *agent.ToolError
		text, _, _ := strings.Cut(piece, "\n[characters ")
		if err != nil && !errors.As(err, &refused) || err == nil && (utf8.RuneCountInString(text) > 10 || !strings.Contains(kept, text)) {
			t.Errorf("recalled with %s: %q, %v", args, piece, err)
		}
	})
}

// canonicalHolds checks that arguments are the same however they are written, and others if anything follows.
func canonicalHolds(t *testing.T, args []byte, valid bool) {
	is := canonicalArgs(args)
	if _, err := decodeJSON(args); (err == nil) != valid {
		t.Errorf("decoded %s: %v", args, err)
	}
	if !valid || len(args) > maxCanonical/64 {
		return
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, args, " ", "\t"); err != nil {
		t.Fatal(err)
	}
	rewritten, _ := rewriteTexts(args, func(s string) string { return s })
	for _, other := range [][]byte{indented.Bytes(), rewritten, append([]byte("\n"), args...)} {
		if !bytes.Equal(canonicalArgs(other), is) {
			t.Errorf("%s and %s are not the same", args, other)
		}
	}
	if bytes.Equal(canonicalArgs([]byte(`[`+string(args)+`]`)), is) || bytes.Equal(canonicalArgs(append(args[:len(args):len(args)], 'x')), is) {
		t.Errorf("%s is the same as more than it", args)
	}
}

// permissionHolds checks that rules see every argument, once.
func permissionHolds(t *testing.T, call agent.ToolCallRequest, valid bool) {
	seen, err := decodedArgs(call)
	if err != nil {
		if seen != nil {
			t.Errorf("%v beside %v", seen, err)
		}
		return
	}
	if !valid && len(bytes.TrimSpace(call.Args)) > 0 {
		t.Errorf("%s has the arguments %v", call.Args, seen)
	}
	written, _ := members(call.Args, -1)
	keys, values, shown := argMembers(call.Args)
	if len(seen) != len(written) || shown && (len(keys) != len(written) || len(values) != len(written)) {
		t.Errorf("of %s, %d arguments are decided and %d shown, it has %d", call.Args, len(seen), len(keys), len(written))
	}
	var again map[string]any
	if data, err := json.Marshal(seen); err != nil || json.Unmarshal(data, &again) != nil || !reflect.DeepEqual(seen, again) {
		t.Errorf("%s is decided as %v", call.Args, seen)
	}
}

// checkpointHolds checks that a checkpoint is read as it was saved, with a line for each step and the last theory.
func checkpointHolds(t *testing.T, call agent.ToolCallRequest) {
	c := &Checkpoint{Store: new(MapStore), Every: 1, OnError: func(err error) { t.Errorf("%s: %v", call.Args, err) }}
	run := agent.NewRun(&agent.Env{Agent: "a"})
	text := string(call.Args)
	result := agent.ToolCallResult{Call: agent.ToolCallRequest{ID: call.ID, Name: text}, Output: text}
	without := agent.ToolCallRequest{ID: "2", Args: json.RawMessage(`{"a":1}`)}
	for i, step := range []agent.StepResult{
		{Response: &agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{call}}, Results: []agent.ToolCallResult{result}},
		{Response: &agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{without}, Content: text}},
	} {
		step.Step.Number = i + 1
		c.step(t.Context(), run, step)
		state, err := LatestCheckpoint(t.Context(), c.Store, "")
		if err != nil || state.StepNumber != i+1 || len(state.SessionLog.Entries) != i+1 {
			t.Fatalf("%s: step %d is saved as %+v, %v", call.Args, i+1, state, err)
		}
		line := state.SessionLog.Entries[i]
		if utf8.RuneCountInString(line) > 200 || !isLine(line) {
			t.Errorf("%s has the line %q", call.Args, line)
		}
		if want := string([]rune(result.Content())); state.ToolResultsStore[call.ID] != want {
			t.Errorf("the result %q is saved as %q", want, state.ToolResultsStore[call.ID])
		}
		if want := theoryIn(call.Args); state.SessionLog.CurrentTheory != want {
			t.Errorf("the theory in %s is %q, want %q", call.Args, state.SessionLog.CurrentTheory, want)
		}
	}
}

// isLine reports whether a text is one line, whoever shows it.
func isLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) && !strings.ContainsAny(text, "\u2028\u2029")
}

// theoryIn is the last text under __theory__, if all that stands there are texts or null.
func theoryIn(args []byte) (theory string) {
	if !json.Valid(args) {
		return ""
	}
	all, _ := members(args, -1)
	for _, m := range all {
		var text *string
		switch {
		case !strings.EqualFold(m.key, "__theory__"):
		case json.Unmarshal(m.value, &text) != nil:
			return ""
		case text != nil:
			theory = *text
		}
	}
	return theory
}
