package tiktoken

import (
	"fmt"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Counter is an [agent.TokenCounter]. Make one with [ForModel] or [ForEncoding]. It is safe for concurrent use. It
// keeps no counts, because the loop counts each stored message once.
type Counter struct {
	encoding string
	codec    counter
}

// A counter counts the tokens of a text. Its time may grow with the square of the longest part without a boundary.
type counter interface {
	Count(text string) (int, error)
}

// The encodings, loaded when the first counter needs them. One takes up to 6 megabytes of memory.
var encodings = map[string]func() counter{
	"o200k_base":  sync.OnceValue(func() counter { return codec.NewO200kBase() }),
	"cl100k_base": sync.OnceValue(func() counter { return codec.NewCl100kBase() }),
}

// models has the encoding of each family of models, by the beginning of the name. The longest one counts.
var models = map[string]string{
	"gpt-5": "o200k_base", "gpt-4o": "o200k_base", "gpt-4.1": "o200k_base", "gpt-4.5": "o200k_base",
	"chatgpt-4o": "o200k_base", "gpt-oss": "o200k_base", "o1": "o200k_base", "o3": "o200k_base", "o4": "o200k_base",
	"gpt-4": "cl100k_base", "gpt-3.5": "cl100k_base", "gpt-35": "cl100k_base",
	"text-embedding-ada-002": "cl100k_base", "text-embedding-3": "cl100k_base",
}

// ForModel returns a counter for a model of OpenAI, for example "gpt-5-mini", "gpt-4o-2024-08-06" or
// "ft:gpt-4o:team". It fails if the encoding of the model is unknown; choose one with ForEncoding then.
func ForModel(model string) (*Counter, error) {
	name, found := strings.TrimPrefix(model, "ft:"), ""
	for begin := range models {
		rest, ok := strings.CutPrefix(name, begin)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], "-.:")) && len(begin) > len(found) {
			found = begin
		}
	}
	if found == "" {
		return nil, fmt.Errorf("tiktoken: the encoding of the model %q is unknown; choose one with ForEncoding", model)
	}
	return ForEncoding(models[found])
}

// ForEncoding returns a counter for "o200k_base" (GPT-4o and later, o1 and later) or "cl100k_base" (GPT-4, GPT-3.5).
func ForEncoding(name string) (*Counter, error) {
	load := encodings[name]
	if load == nil {
		return nil, fmt.Errorf("tiktoken: the encoding %q is unknown; use o200k_base or cl100k_base", name)
	}
	return &Counter{encoding: name, codec: load()}, nil
}

// Encoding returns the name of the encoding.
func (c *Counter) Encoding() string { return c.encoding }

// Tokens around the parts of a message, as OpenAI's guide to counting has them.
const (
	perMessage = 3
	perName    = 1
	perCall    = 3 // not documented
)

// CountTokens counts the tokens of messages in a request.
//
//   - A message counts its text, its role, 3 tokens around them and, if it has a name, the name and 1 token. These are
//     the documented figures.
//   - A tool call counts its name, its arguments and 3 tokens, which is an estimate.
//   - An image counts what GPT-4o takes for it in high detail: 85 tokens and 170 for each tile of 512 pixels, after it
//     is scaled to fit 2048 pixels and then to 768 on its shorter side. For an image of unknown size that is 1105.
//   - Another part counts its text if it is text, and otherwise a quarter of its bytes.
//
// The 3 tokens that start the reply are not included, and neither are the descriptions of tools.
func (c *Counter) CountTokens(messages []agent.Message) int {
	sum := 0
	for _, m := range messages {
		sum += perMessage + c.CountText(string(m.Role)) + c.CountText(m.Content) + c.CountText(m.Reasoning)
		if m.Name != "" {
			sum += perName + c.CountText(m.Name)
		}
		for _, call := range m.ToolCalls {
			sum += perCall + c.CountText(call.Name) + c.CountText(string(call.Args))
		}
		for _, p := range m.Parts {
			sum += c.countPart(p)
		}
	}
	return sum
}

func (c *Counter) countPart(p agent.Part) int {
	switch kind, _, _ := strings.Cut(p.MediaType, "/"); {
	case kind == "image":
		return imageTokens(p.Data)
	case kind == "text":
		return c.CountText(string(p.Data))
	}
	return (len(p.Data) + len(p.URL)) / 4
}
