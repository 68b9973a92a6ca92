package eventpage

import (
	"encoding/json"
	"strings"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A saidView is the part that a fire adds to the conversation of an agent's run.
type saidView struct {
	Role      string     `json:"role"`           // system, user, assistant, tool, person, hook, end
	Name      string     `json:"name,omitempty"` // of the model, the tool or the person
	Text      string     `json:"text,omitempty"` // shortened, like the other texts
	Reasoning string     `json:"reasoning,omitempty"`
	Calls     []callView `json:"calls,omitempty"`
	Before    int        `json:"before,omitempty"` // messages before the task
	State     string     `json:"state,omitempty"`  // asked, approved, denied; of the end, its cause
	Failed    bool       `json:"failed,omitempty"`
	Change    *Text      `json:"change,omitempty"` // of the payload, by the hooks
}

// A callView is a call of a tool that a model requested.
type callView struct {
	Name string `json:"name"`
	Args string `json:"args"`
}

// maxSaid bounds the texts of a conversation, in bytes. The details of the fire have the rest.
const maxSaid = 4000

// spoken has the fields of the payloads of an agent's points that a conversation shows.
type spoken struct {
	Name       string    `json:"name"`
	Task       string    `json:"task"`
	Messages   []message `json:"messages"`
	Content    string    `json:"content"`
	Reasoning  string    `json:"reasoning"`
	Model      string    `json:"model"`
	ToolCalls  []call    `json:"tool_calls"`
	Call       call      `json:"call"`
	Output     string    `json:"output"`
	Err        string    `json:"err"`
	Prompt     string    `json:"prompt"`
	Reason     string    `json:"reason"`
	AnsweredBy string    `json:"answered_by"`
	Answer     string    `json:"answer"`
	Stop       struct {
		Cause   string `json:"cause"`
		Message string `json:"message"`
	} `json:"stop"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type call struct {
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	ArgsText string          `json:"args_text"` // arguments that are not JSON
}

// saidOf returns the part that a fire adds to a conversation, as the hooks left it, or nil.
func saidOf(e hooklog.Event) *saidView {
	payload := e.Payload
	if e.Final != nil {
		payload = e.Final
	}
	var p spoken
	if json.Unmarshal(payload, &p) != nil {
		return nil
	}
	s := saidView{Role: roles[e.Point]}
	switch e.Point {
	case "OnRunStart":
		s.Text, s.Before = p.Task, len(p.Messages)
	case "BeforeLLM":
		var texts []string
		for _, m := range p.Messages {
			if m.Role == "system" {
				texts = append(texts, m.Content)
			}
		}
		s.Text = strings.Join(texts, "\n\n")
	case "AfterLLM":
		s.Name, s.Text, s.Reasoning = p.Model, p.Content, p.Reasoning
		for _, c := range p.ToolCalls {
			args := c.ArgsText
			if c.Args != nil {
				args = strings.TrimSuffix(Pretty(c.Args), "\n")
			}
			s.Calls = append(s.Calls, callView{short(c.Name, maxTask), short(args, maxSaid)})
		}
	case "BeforeTool":
		s.Name = p.Name
	case "AfterTool":
		s.Name, s.Text, s.Failed = p.Call.Name, p.Output, p.Err != ""
		if s.Failed {
			s.Text = strings.TrimSpace(p.Err + "\n\n" + p.Output)
		}
	case "BeforeAsk":
		s.State, s.Name = "asked", p.Call.Name
		s.Text = strings.TrimSpace(p.Prompt + "\n" + p.Reason)
	case "OnPermissionGranted":
		s.State, s.Name, s.Text = "approved", p.AnsweredBy, p.Reason
	case "OnPermissionDenied":
		s.State, s.Name, s.Text, s.Failed = "denied", p.AnsweredBy, p.Reason, true
	case "CheckDone":
		s.Text = p.Answer
	case "OnRunError":
		s.Text, s.Failed = p.Err, true
	case "OnRunEnd":
		s.State, s.Text = short(p.Stop.Cause, maxTask), p.Stop.Message
	default:
		return nil
	}
	s.Name, s.Text, s.Reasoning = short(s.Name, maxTask), short(s.Text, maxSaid), short(s.Reasoning, maxSaid)
	if e.Final != nil {
		s.Change = Difference(e.Payload, e.Final)
	}
	return &s
}

var roles = map[string]string{
	"OnRunStart": "user", "BeforeLLM": "system", "AfterLLM": "assistant", "AfterTool": "tool", "BeforeTool": "hook",
	"BeforeAsk": "person", "OnPermissionGranted": "person", "OnPermissionDenied": "person", "CheckDone": "hook",
	"OnRunError": "end", "OnRunEnd": "end",
}
