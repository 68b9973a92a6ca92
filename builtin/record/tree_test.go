package record_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleTree() {
	dir, _ := os.MkdirTemp("", "tree")
	defer os.RemoveAll(dir)
	tree, hooks := &record.Tree{Dir: dir}, new(agent.Hooks)
	hooks.Use(tree)
	run := func(tools ...string) {
		var turns []looptest.Turn
		for _, tool := range tools {
			turns = append(turns, looptest.Call(tool, nil))
		}
		a := loop.Agent{
			Hooks: hooks, Model: looptest.NewScript(append(turns, looptest.Reply("ok"))...),
			Tools: []agent.Tool{&looptest.Tool{Name: "look"}, &looptest.Tool{Name: "edit"}, &looptest.Tool{Name: "test"}},
		}
		_, _ = a.Do(context.Background(), loop.Request{Task: "go", Conversation: "c"})
	}
	id := agent.Identity{Conversation: "c"}
	run("look", "edit", "test")
	_ = tree.Fork(id, "1", "second try")
	run("edit")
	read, _ := tree.Read(id)
	fmt.Print(read.Markdown())
	// Output:
	// - start
	// - 1: step 1, look {} [second try]
	//   - 2: step 2, edit {}
	//   - 3: step 3, test {}
	//   - **4: step 1, edit {}**
}

// recordCalls runs an agent that makes so many calls of the tool work.
func recordCalls(t *testing.T, tree *record.Tree, req loop.Request, calls int) {
	t.Helper()
	looptest.Harness{
		Turns: fixture.Work(calls), Tools: fixture.Worker(), Hooks: []agent.Hook{tree},
	}.Do(t, t.Context(), req)
}

// shape returns the nodes of a tree as parent>node.
func shape(t *testing.T, tree *record.Tree, id agent.Identity) string {
	t.Helper()
	read, err := tree.Read(id)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for _, n := range read.Nodes {
		nodes = append(nodes, n.ParentID+">"+n.ID)
	}
	return strings.Join(append(nodes, "at "+read.ActiveID), " ")
}

func TestRunsContinueAtActiveNode(t *testing.T) {
	tree, req := &record.Tree{Dir: t.TempDir()}, loop.Request{Task: "go", User: "u", Conversation: "c"}
	id := agent.Identity{User: "u", Conversation: "c"}
	for _, c := range []struct {
		name, fork string
		calls      int
		want       string
	}{
		{"first run", "", 2, "root>1 1>2 at 2"},
		{"second run", "", 1, "root>1 1>2 2>3 at 3"},
		{"branch", "1", 2, "root>1 1>2 2>3 1>4 4>5 at 5"},
		{"from the start", "root", 1, "root>1 1>2 2>3 1>4 4>5 root>6 at 6"},
		{"no calls", "", 0, "root>1 1>2 2>3 1>4 4>5 root>6 at 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.fork != "" {
				if err := tree.Fork(id, c.fork, ""); err != nil {
					t.Fatal(err)
				}
			}
			recordCalls(t, tree, req, c.calls)
			if got := shape(t, tree, id); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	if err := tree.Fork(id, "99", ""); err == nil {
		t.Error("an unknown node was forked")
	}
	if got := shape(t, tree, agent.Identity{User: "v", Conversation: "c"}); got != "at root" {
		t.Errorf("another user has %s", got)
	}
}

func TestTreeRecordsEachCall(t *testing.T) {
	tree := &record.Tree{Dir: t.TempDir()}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", `{"key":"sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}`),
			looptest.Reply("ok")},
		Tools: []agent.Tool{&looptest.Tool{Name: "work", Err: errors.New("the disk is full")}}, Hooks: []agent.Hook{tree},
	}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
	read, err := tree.Read(agent.Identity{Conversation: "c"})
	if err != nil || len(read.Nodes) != 1 {
		t.Fatalf("%+v, %v", read, err)
	}
	n := read.Nodes[0]
	if n.Tool != "work" || n.Step != 1 || !strings.Contains(n.Error, "disk is full") || n.Time.IsZero() ||
		n.Agent != "tested" || n.Run == "" || n.Conversation != "c" || strings.Contains(n.Args, "abcdefgh") {
		t.Errorf("recorded %+v", n)
	}
}

func TestUnnamedConversationHasNoTree(t *testing.T) {
	tree := &record.Tree{Dir: t.TempDir()}
	recordCalls(t, tree, loop.Request{Task: "go"}, 2)
	files, err := os.ReadDir(tree.Dir)
	if _, unnamed := tree.Read(agent.Identity{User: "u"}); err != nil || len(files) != 0 || unnamed == nil {
		t.Errorf("%d files, %v; read without a name: %v", len(files), err, unnamed)
	}
}

func TestDamagedTreeIsKept(t *testing.T) {
	const header = `{"root_id":"root","active_id":"root"}` + "\n"
	for name, text := range map[string]string{
		"empty": "", "no header": "x\n", "no root": "{}\n", "not JSON": header + "x\n",
		"cycle":   header + `{"id":"1","parent_id":"2"}` + "\n" + `{"id":"2","parent_id":"1"}` + "\n",
		"twice":   header + `{"id":"1","parent_id":"root"}` + "\n" + `{"id":"1","parent_id":"root"}` + "\n",
		"no goal": `{"root_id":"root","active_id":"7"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			tree, id := &record.Tree{Dir: t.TempDir()}, agent.Identity{Conversation: "c"}
			path := filepath.Join(tree.Dir, "-", "-", "c.jsonl")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
			recordCalls(t, tree, loop.Request{Task: "go", Conversation: "c"}, 1)
			_, err := tree.Read(id)
			if got := string(fixture.ReadFile(t, path)); got != text || err == nil {
				t.Errorf("the file is now %q, error %v", got, err)
			}
		})
	}
}

// FuzzTree reads any text as the file of a tree, and renders it.
func FuzzTree(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"root_id":"root","active_id":"1"}` + "\n" + `{"id":"1","parent_id":"root"}`,
		`{"root_id":"a","active_id":"b"}` + "\n" + `{"id":"a"}` + "\n" + `{"id":"b","parent_id":"a","label":"x"}`,
		`{"active_id":""}` + "\n" + `{"id":"","parent_id":""}`,
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		tree, id := &record.Tree{Dir: dir}, agent.Identity{Conversation: "c"}
		path := filepath.Join(dir, "-", "-", "c.jsonl")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		read, err := tree.Read(id)
		if err != nil {
			return
		}
		if page := read.Markdown(); strings.Count(page, "\n") != len(read.Nodes)+1 {
			t.Errorf("%d nodes: %q", len(read.Nodes), page)
		}
	})
}

func TestATreeNeedsADirectory(t *testing.T) {
	fixture.MustPanic(t, "Dir is empty", func() { new(agent.Hooks).Use(&record.Tree{}) })
}
