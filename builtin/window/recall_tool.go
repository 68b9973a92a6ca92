package window

import (
	"context"
	"crypto/sha256"
	_ "embed" // for the schema
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/storekey"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// recallPrefix begins every recall key. The recall tool cannot read other keys of the store.
const recallPrefix = "result-"

// recallNote precedes the key in a shortened text.
const recallNote = "; recall key "

// recallKey returns the key of a text. Equal texts have equal keys, and a key reveals nothing of the text.
func recallKey(body string) string {
	sum := sha256.Sum256([]byte(body))
	return recallPrefix + hex.EncodeToString(sum[:8])
}

// storeKey returns the key under which the text of a recall key is stored for a conversation.
func storeKey(owner agent.Identity, key string) string { return storekey.Of("result", owner, key) }

// keyOfWhole returns the recall key that a shortened text names, or "" if the text names none.
func keyOfWhole(body string) string {
	at := strings.LastIndex(body, recallNote)
	if at < 0 {
		return ""
	}
	key, ok := strings.CutSuffix(body[at+len(recallNote):], "]")
	if !ok || !isRecallKey(key) {
		return ""
	}
	return key
}

func isRecallKey(key string) bool {
	digits, ok := strings.CutPrefix(key, recallPrefix)
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// RecallTool is a tool with which the model reads the full text of a result that a [Guard] has shortened. Set Store to
// the store of Guard.Recall.
//
// The model passes the key and an offset and receives at most MaxChars characters; the last line says how to continue.
// The tool reads only texts that a Guard stored in the same conversation, even if the store holds other keys. It learns
// the conversation from agentspec.IdentityOf. RecallTool is safe for concurrent use.
type RecallTool struct {
	Store    agent.Store
	MaxChars limit.Bound[int] // characters per call; default 20,000
}

//go:embed recall.schema.json
var recallSchema string

// Schema implements agent.Tool. The tool's name is recall.
func (RecallTool) Schema() agent.ToolSchema {
	return agent.ToolSchema{
		Name:        "recall",
		Description: "Read again an earlier result that was cut or summarised, by its recall key.",
		Parameters:  json.RawMessage(recallSchema),
		ReadOnly:    true,
	}
}

// recallArgs are the arguments of the tool.
type recallArgs struct {
	Key    string  `json:"key"`
	Offset float64 `json:"offset"` // JSON allows an integer to be written 1e3
}

// Call implements agent.Tool.
func (t RecallTool) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	if t.Store == nil {
		return "", errors.New("the recall tool has no store; give RecallTool.Store that of window.Guard.Recall")
	}
	if err := t.MaxChars.Check("RecallTool.MaxChars"); err != nil {
		return "", err
	}
	args, err := kit.ReadArgs[recallArgs](call)
	if err != nil {
		return "", err
	}
	unknown := &agent.ToolError{Kind: agent.FailTool, NoRetry: true, Message: fmt.Sprintf(
		"there is no result under the key %q; take the key from the summary of the result", shorten.To(args.Key, 60))}
	if !isRecallKey(args.Key) {
		return "", unknown
	}
	data, err := t.Store.Get(ctx, storeKey(agentspec.IdentityOf(ctx), args.Key))
	var none *agent.NotFound
	if errors.As(err, &none) {
		return "", unknown
	}
	if err != nil {
		return "", fmt.Errorf("the result cannot be read: %w", err)
	}
	text := string(data)
	n, size := utf8.RuneCountInString(text), t.MaxChars.Or(20_000)
	from := int(min(max(args.Offset, 0), float64(n)))
	to := from + min(size, n-from)
	piece := text[shorten.RuneOffset(text, from):shorten.RuneOffset(text, to)]
	switch {
	case from == 0 && to == n:
		return piece, nil
	case to == n:
		return fmt.Sprintf("%s\n[characters %d to %d of %d, the end]", piece, from, to, n), nil
	}
	return fmt.Sprintf("%s\n[characters %d to %d of %d; continue with offset %d]", piece, from, to, n, to), nil
}
