package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/ownerpath"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Tree is a [View] that writes the tool calls of a conversation as a tree, in which a program can go back and start a
// new branch.
//
// For example, a user does not like the result, goes back to the third call with [Tree.Fork], and runs the agent again
// from a checkpoint. The calls of the new run become a branch below the third call.
// [ConversationTree.Markdown] shows both.
//
// Each conversation has one file of JSON lines in Dir: a header with root_id, active_id and the run that wrote it, and
// then a line for each [TreeNode]. A run adds its calls below the active node when it ends, and its last call becomes
// the active node. Calls of runs without a named conversation and of sub-runs are not recorded. A file has at most
// 10,000 nodes; the oldest are dropped, and branches of a dropped node move to the root.
//
// Secrets and personal data are removed from arguments and errors, which are then truncated to 200 characters.
//
// Tree reads AfterTool and OnRunEnd. A failure to write does not affect the run. Several processes may use one Dir.
// Bind panics if Dir is empty.
type Tree struct {
	Dir     string
	Redact  redact.Redactor
	OnError func(error) // receives failures to write, concurrently; nil: they are logged

	watch
	runs   byRun[[]TreeNode] // calls that are not written yet
	failed kit.Reporter
}

// A TreeNode is a tool call in the tree of a conversation.
type TreeNode struct {
	ID       string    `json:"id"`
	ParentID string    `json:"parent_id"` // of the call before, or of the root
	Step     int       `json:"step_num"`
	Tool     string    `json:"tool"`
	Args     string    `json:"args_summary"`
	Error    string    `json:"error,omitempty"` // of a call that failed
	Time     time.Time `json:"time"`
	Label    string    `json:"label,omitempty"` // given to Fork
	Agent    string    `json:"agent,omitempty"`
	Run      string    `json:"run"` // ID of the run
	agent.Identity
}

const (
	treeRoot = "root" // the ID of the root
	maxNodes = 10_000 // of a conversation
)

// A ConversationTree is the content of the file of a conversation.
type ConversationTree struct {
	RootID   string     `json:"root_id"`
	ActiveID string     `json:"active_id"` // the next calls become children of this node, or of the root
	Run      string     `json:"run"`       // ID of the run that was recorded last
	Nodes    []TreeNode `json:"-"`         // in order of recording
	agent.Identity
}

// Bind adds the view to its points.
func (r *Tree) Bind(h *agent.Hooks) {
	if r.Dir == "" {
		kit.MustConfig("record.Tree", errors.New("Dir is empty; name the directory for the files of conversations"))
	}
	r.bind(h, "record.Tree", r)
}

func (r *Tree) points() []string { return []string{"AfterTool", "OnRunEnd"} }

func (r *Tree) see(_ context.Context, e event) {
	if e.parent != "" || !e.Named() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if result, ok := e.payload.(agent.ToolCallResult); ok {
		of := r.runs.of(e.run)
		nodes := append(*of, r.node(e, kit.AfterHooks(result, e.final.(agent.ToolCallResult))))
		*of = nodes[max(0, len(nodes)-maxNodes):]
		return
	}
	if err := r.add(e, *r.runs.take(e.run)); err != nil {
		r.failed.Report("record.Tree", r.OnError, fmt.Errorf("the calls of the run are not added to the tree: %w", err))
	}
}

// node returns the node of a call, which has no ID yet.
func (r *Tree) node(e event, result agent.ToolCallResult) TreeNode {
	args := ""
	if len(result.Call.Args) > 0 {
		args = shorten.JSON(r.Redact.CutJSON(result.Call.Args, shorten.SummaryChars), shorten.SummaryChars)
	}
	return TreeNode{
		Step: result.Call.Step, Tool: r.Redact.CutText(result.Call.Name, shorten.KeyChars), Args: args,
		Error: r.Redact.CutText(result.Err, shorten.SummaryChars),
		Time:  e.at.UTC(),
		Agent: r.Redact.CutText(e.agent, shorten.KeyChars),
		Run:   e.run, Identity: e.Identity,
	}
}

// add writes the calls of a run.
func (r *Tree) add(e event, nodes []TreeNode) error {
	if len(nodes) == 0 {
		return nil
	}
	return r.change(e.Identity, func(t *ConversationTree) error {
		next := t.nextID()
		t.Run, t.Identity = e.run, e.Identity
		for _, n := range nodes {
			n.ID, n.ParentID = strconv.Itoa(next), t.ActiveID
			t.Nodes, t.ActiveID = append(t.Nodes, n), n.ID
			next++
		}
		t.limit(maxNodes)
		return nil
	})
}

// Fork makes a node the active one, so that the next calls of the conversation become a branch below it. The label, for
// example "second try", is stored with the node; an empty label keeps the stored one. The node "root", which has no
// label, starts from the beginning. Fork returns an error if the conversation has no such node.
func (r *Tree) Fork(conversation agent.Identity, node, label string) error {
	return r.change(conversation, func(t *ConversationTree) error {
		at := slices.IndexFunc(t.Nodes, func(n TreeNode) bool { return n.ID == node })
		if at < 0 && node != t.RootID {
			return fmt.Errorf("the tree of the conversation has no node %q; see Read", shorten.To(node, shorten.KeyChars))
		}
		t.ActiveID = node
		if label != "" && at >= 0 {
			t.Nodes[at].Label = shorten.Line(r.Redact.CutText(label, shorten.SummaryChars), shorten.SummaryChars)
		}
		return nil
	})
}

// Read returns the tree of a conversation. It has no node if nothing was recorded.
func (r *Tree) Read(conversation agent.Identity) (ConversationTree, error) {
	path, err := r.path(conversation)
	if err != nil {
		return ConversationTree{}, err
	}
	return readTreeFile(path)
}

func (r *Tree) path(conversation agent.Identity) (string, error) {
	if conversation.Conversation == "" {
		return "", errors.New("the identity names no conversation; give its name")
	}
	return filepath.Join(r.Dir, ownerpath.Of(conversation)+".jsonl"), nil
}

// change reads, changes and writes the tree of a conversation.
func (r *Tree) change(conversation agent.Identity, f func(*ConversationTree) error) error {
	path, err := r.path(conversation)
	if err != nil {
		return err
	}
	unlock, err := atomicfile.LockShared(path)
	if err != nil {
		return err
	}
	defer unlock()
	t, err := readTreeFile(path)
	if err != nil {
		return err
	}
	if err := f(&t); err != nil {
		return err
	}
	return atomicfile.Write(path, t.encode())
}

func readTreeFile(path string) (ConversationTree, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return ConversationTree{RootID: treeRoot, ActiveID: treeRoot}, nil
	}
	if err != nil {
		return ConversationTree{}, err
	}
	t, err := decodeTree(data)
	if err != nil {
		return t, fmt.Errorf("%s: %w; repair or remove the file", path, err)
	}
	return t, nil
}

// encode returns the content of a file.
func (t ConversationTree) encode() []byte {
	var b bytes.Buffer
	b.Write(append(jsonx.Encode(t), '\n'))
	for _, n := range t.Nodes {
		b.Write(append(jsonx.Encode(n), '\n'))
	}
	return b.Bytes()
}

// decodeTree returns the tree in a file. Each node follows its parent, so that the tree has no cycle.
func decodeTree(data []byte) (t ConversationTree, err error) {
	known := make(map[string]bool)
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if number == 1 {
			if err := json.Unmarshal(line, &t); err != nil {
				return ConversationTree{}, fmt.Errorf("line 1 is not a header: %w", err)
			}
			known[t.RootID] = true
			continue
		}
		var n TreeNode
		if err := json.Unmarshal(line, &n); err != nil {
			return ConversationTree{}, fmt.Errorf("line %d is not a node: %w", number, err)
		}
		if n.ID == "" || known[n.ID] || !known[n.ParentID] {
			return ConversationTree{}, fmt.Errorf("line %d: the node %q is there twice or precedes its parent %q", number,
				shorten.To(n.ID, shorten.KeyChars), shorten.To(n.ParentID, shorten.KeyChars))
		}
		known[n.ID] = true
		t.Nodes = append(t.Nodes, n)
	}
	if t.RootID == "" || !known[t.ActiveID] {
		return ConversationTree{}, errors.New("line 1: the root or the active node does not exist")
	}
	return t, nil
}

// nextID returns the number for the next node. That of the last one is the largest.
func (t ConversationTree) nextID() int {
	if len(t.Nodes) == 0 {
		return 1
	}
	last, _ := strconv.Atoi(t.Nodes[len(t.Nodes)-1].ID) // a person may have changed it
	return last + 1
}

// limit drops the oldest calls until at most so many are left. The active one stays.
func (t *ConversationTree) limit(most int) {
	over := len(t.Nodes) - most
	if over <= 0 {
		return
	}
	dropped := make(map[string]bool)
	t.Nodes = slices.DeleteFunc(t.Nodes, func(n TreeNode) bool {
		if len(dropped) == over || n.ID == t.ActiveID {
			return false
		}
		dropped[n.ID] = true
		return true
	})
	for i := range t.Nodes {
		if dropped[t.Nodes[i].ParentID] {
			t.Nodes[i].ParentID = t.RootID
		}
	}
}

// Markdown returns the tree as a nested list for people, in which the active node is bold. A node with one child and
// that child have the same indentation, so that only branches are indented.
func (t ConversationTree) Markdown() string {
	children := make(map[string][]TreeNode)
	for _, n := range t.Nodes {
		children[n.ParentID] = append(children[n.ParentID], n)
	}
	var b strings.Builder
	type open struct {
		node  TreeNode
		depth int
	}
	stack := []open{{TreeNode{ID: t.RootID}, 0}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		b.WriteString(strings.Repeat("  ", min(at.depth, 40)) + "- " + t.line(at.node) + "\n")
		below := children[at.node.ID]
		if len(below) > 1 {
			at.depth++
		}
		for _, n := range slices.Backward(below) {
			stack = append(stack, open{n, at.depth})
		}
	}
	return b.String()
}

// line renders a node.
func (t ConversationTree) line(n TreeNode) string {
	text := "start"
	if n.ID != t.RootID {
		text = fmt.Sprintf("%s: step %d, %s %s", shorten.Line(n.ID, shorten.KeyChars), n.Step,
			shorten.Line(n.Tool, shorten.KeyChars), shorten.Line(n.Args, shorten.SummaryChars))
	}
	text = strings.TrimSpace(text)
	if n.Error != "" {
		text += " (failed: " + shorten.Line(n.Error, shorten.SummaryChars) + ")"
	}
	if n.Label != "" {
		text += " [" + shorten.Line(n.Label, shorten.SummaryChars) + "]"
	}
	if n.ID == t.ActiveID {
		text = "**" + text + "**"
	}
	return text
}
