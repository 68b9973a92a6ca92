package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// A modelCall is a call of a run.
type modelCall struct {
	ModelCall
	req agent.LLMRequest
	at  time.Time // when it began
}

// storedReply is the content of call_NN_response.json.
type storedReply struct {
	Run string `json:"run"`
	agent.Identity
	Timestamp     float64              `json:"timestamp"`
	Method        string               `json:"method"`
	Scope         string               `json:"scope,omitempty"`
	Response      *agent.LLMResponse   `json:"response,omitempty"`
	Error         string               `json:"error,omitempty"`
	PromptTooLong *agent.PromptTooLong `json:"prompt_too_long,omitempty"`
}

const (
	methodPlain = "generate"
	methodTools = "generate_with_tools"
)

func methodOf(req agent.LLMRequest) string {
	if len(req.Tools) > 0 {
		return methodTools
	}
	return methodPlain
}

func callFile(index int, suffix string) string { return fmt.Sprintf("call_%02d_%s", index, suffix) }

// began adds a call to a run.
func (p *Provenance) began(r *provenRun, at time.Time, req agent.LLMRequest, scope string) *modelCall {
	c := &modelCall{req: req, at: at}
	c.Index, c.Timestamp, c.Scope = len(r.calls), kit.UnixSeconds(at), scope
	r.calls = append(r.calls, ModelCall{Index: c.Index})
	return c
}

// fail ends the open call of a run, if there is one, with an error.
func (p *Provenance) fail(r *provenRun, e event, why string) {
	p.ended(r, r.open, e.at, agent.LLMResponse{}, why)
	r.open = nil
}

// ended writes a call that has ended, with a reply or an error. A nil call is ignored.
func (p *Provenance) ended(r *provenRun, c *modelCall, at time.Time, reply agent.LLMResponse, failed string) {
	if c == nil {
		return
	}
	of, most := r.start, p.MaxChars.Or(recordChars)
	c.PromptChars, c.DurationMS = promptChars(c.req), kit.Milliseconds(at.Sub(c.at))
	if reply.Elapsed > 0 {
		c.DurationMS = kit.Milliseconds(reply.Elapsed)
	}
	c.Method, c.Temperature, c.MaxTokens = methodOf(c.req), c.req.Temperature, c.req.MaxTokens
	c.ToolCount, c.StepNum = len(c.req.Tools), c.req.Step
	c.Run, c.Identity, c.Metadata = of.run, of.Identity, map[string]any{}
	for k, v := range map[string]string{"agent": of.agent, "model": reply.Model, "finish_reason": reply.FinishReason} {
		if v != "" {
			c.Metadata[k] = p.Redact.CutText(v, shorten.SummaryChars)
		}
	}
	stored := storedReply{Run: c.Run, Identity: c.Identity, Timestamp: c.Timestamp, Method: c.Method, Scope: c.Scope}
	text := ""
	if failed != "" {
		text = p.text(failed)
		c.Error, stored.Error, stored.PromptTooLong = &text, text, tooLong(failed)
	} else {
		c.ResponseChars = utf8.RuneCountInString(reply.Content)
		c.ResponseBlocks = len(reply.ToolCalls) + len(reply.Parts)
		if reply.Content != "" {
			c.ResponseBlocks++
		}
		if u := usageFacts(reply.Usage); u != nil {
			c.Metadata["usage"] = u
		}
		reply.Content, reply.Reasoning = p.text(reply.Content), p.text(reply.Reasoning)
		reply = p.Redact.Response(reply)
		stored.Response = &reply
		text = replyText(reply)
	}
	r.calls[c.Index] = c.ModelCall
	dir := p.dirOf(of)
	data, err := json.Marshal(stored)
	p.report(errors.Join(err,
		atomicfile.Write(filepath.Join(dir, callFile(c.Index, "prompt.txt")), []byte(p.text(promptText(c.req, most)))),
		// Before the text: Replay uses the text as the complete reply if there is no JSON file.
		atomicfile.Write(filepath.Join(dir, callFile(c.Index, "response.json")), data),
		atomicfile.Write(filepath.Join(dir, callFile(c.Index, "response.txt")), []byte(cutMarked(text, most))),
		atomicfile.AppendLine(filepath.Join(dir, "manifest.jsonl"), jsonx.Encode(c.ModelCall)),
	))
}

// tooLong returns the error of a model whose prompt was too long, or nil for the text of another error.
func tooLong(text string) *agent.PromptTooLong {
	err := new(agent.PromptTooLong)
	if strings.Contains(text, err.Error()) {
		return err
	}
	if at := strings.Index(text, "the prompt has "); at >= 0 {
		_, _ = fmt.Sscanf(text[at:], "the prompt has %d tokens, the model takes %d:", &err.Tokens, &err.Window)
		if strings.Contains(text, err.Error()) && err.Window > 0 {
			return err
		}
	}
	return nil
}

// promptChars returns the number of characters of a prompt.
func promptChars(req agent.LLMRequest) int {
	n := 0
	for _, msg := range req.Messages {
		n += utf8.RuneCountInString(msg.Content) + utf8.RuneCountInString(msg.Reasoning)
		for _, c := range msg.ToolCalls {
			n += utf8.RuneCountInString(c.Name) + utf8.RuneCount(c.Args)
		}
	}
	return n
}

// promptText renders a prompt for people. Messages far beyond maxChars are counted instead of rendered.
func promptText(req agent.LLMRequest, maxChars int) string {
	var b strings.Builder
	if len(req.Tools) > 0 {
		var names []string
		for _, t := range req.Tools {
			names = append(names, t.Name)
		}
		fmt.Fprintf(&b, "[tools] %s\n\n", strings.Join(names, ", "))
	}
	for i, msg := range req.Messages {
		if b.Len()/4-promptMargin > maxChars {
			fmt.Fprintf(&b, "[%d more messages]\n", len(req.Messages)-i)
			break
		}
		b.WriteString("[" + string(msg.Role))
		for _, mark := range []string{msg.Name, msg.ToolCallID} {
			if mark != "" {
				b.WriteString(" " + mark)
			}
		}
		b.WriteString("]\n")
		writeText(&b, msg.Reasoning, msg.Content, msg.ToolCalls)
		for _, p := range msg.Parts {
			fmt.Fprintf(&b, "(%s, %d bytes %s)\n", p.MediaType, len(p.Data), p.URL)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func replyText(reply agent.LLMResponse) string {
	var b strings.Builder
	writeText(&b, reply.Reasoning, reply.Content, reply.ToolCalls)
	return b.String()
}

func writeText(b *strings.Builder, reasoning, content string, calls []agent.ToolCallRequest) {
	if reasoning != "" {
		fmt.Fprintf(b, "(reasoning) %s\n", reasoning)
	}
	if content != "" {
		b.WriteString(content + "\n")
	}
	for _, c := range calls {
		fmt.Fprintf(b, "-> %s %s %s\n", c.Name, c.Args, c.ID)
	}
}

// promptMargin is the number of characters that are rendered beyond the bound, so that the truncation mark appears.
const promptMargin = 512

// cutMarked truncates a text and appends the number of missing characters.
func cutMarked(s string, maxRunes int) string {
	head := shorten.Runes(s, maxRunes)
	if len(head) == len(s) {
		return s
	}
	return shorten.Valid(head) + fmt.Sprintf("[truncated %d chars]", utf8.RuneCountInString(s[len(head):]))
}

// cutRedacted redacts a text and then truncates it.
func cutRedacted(r *redact.Redactor, s string, maxRunes int) string {
	if len(s)/4-promptMargin <= maxRunes {
		return cutMarked(r.Text(s), maxRunes)
	}
	kept := strings.TrimSuffix(r.CutText(s, maxRunes), shorten.Ellipsis)
	return kept + fmt.Sprintf("[truncated %d chars]", max(1, utf8.RuneCountInString(s)-utf8.RuneCountInString(kept)))
}
