package tiktoken

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func of(t testing.TB, encoding string) *Counter {
	t.Helper()
	c, err := ForEncoding(encoding)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The vectors are of the library tiktoken itself, version 1.0.22 of its package for JavaScript.
func TestCountsAreThoseOfTiktoken(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Text  string `json:"text"`
		O200k int    `json:"o200k_base"`
		CL100 int    `json:"cl100k_base"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors) < 30 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for _, v := range vectors {
		t.Run(v.Text[:min(len(v.Text), 20)], func(t *testing.T) {
			if got := of(t, "o200k_base").CountText(v.Text); got != v.O200k {
				t.Errorf("o200k_base: got %d, want %d", got, v.O200k)
			}
			if got := of(t, "cl100k_base").CountText(v.Text); got != v.CL100 {
				t.Errorf("cl100k_base: got %d, want %d", got, v.CL100)
			}
		})
	}
}

func TestModelsHaveTheirEncoding(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-5": "o200k_base", "gpt-5.1": "o200k_base", "gpt-5-mini-2025-08-07": "o200k_base", "gpt-4o": "o200k_base",
		"gpt-4o-mini": "o200k_base", "gpt-4.1-nano": "o200k_base", "o1": "o200k_base", "o3-mini": "o200k_base",
		"gpt-oss-120b": "o200k_base", "chatgpt-4o-latest": "o200k_base", "ft:gpt-4o:team": "o200k_base",
		"gpt-4": "cl100k_base", "gpt-4-turbo": "cl100k_base", "gpt-3.5-turbo": "cl100k_base", "gpt-35-turbo": "cl100k_base",
		"ft:gpt-3.5-turbo:team": "cl100k_base", "text-embedding-3-large": "cl100k_base",
		"": "", "o10": "", "gpt-40": "", "llama-3": "", "claude-sonnet-5": "",
	} {
		t.Run(model, func(t *testing.T) {
			c, err := ForModel(model)
			if want == "" {
				if err == nil {
					t.Errorf("got %s", c.Encoding())
				}
				return
			}
			if err != nil || c.Encoding() != want {
				t.Errorf("got %v, %v", c, err)
			}
		})
	}
	if _, err := ForEncoding("p50k_base"); err == nil {
		t.Error("an unknown encoding has a counter")
	}
}

// The messages of OpenAI's guide to counting. The API counted 129 and 124 tokens for them, 3 of which start the reply.
func TestMessagesCountAsTheAPIDocuments(t *testing.T) {
	system := func(name, text string) agent.Message {
		return agent.Message{Role: agent.RoleSystem, Name: name, Content: text}
	}
	messages := []agent.Message{
		system("", "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."),
		system("example_user", "New synergies will help drive top-line growth."),
		system("example_assistant", "Things working well together will increase revenue."),
		system("example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased "+
			"leverage."),
		system("example_assistant", "Let's talk later when we're less busy about how to do better."),
		{Role: agent.RoleUser, Content: "This late pivot means we don't have time to boil the ocean for the client " +
			"deliverable."},
	}
	for encoding, want := range map[string]int{"cl100k_base": 126, "o200k_base": 121} {
		t.Run(encoding, func(t *testing.T) {
			c := of(t, encoding)
			if got := c.CountTokens(messages); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
			sum := 0
			for _, m := range messages {
				sum += c.CountTokens([]agent.Message{m})
			}
			if sum != want {
				t.Errorf("one by one: got %d, want %d", sum, want)
			}
		})
	}
}

func TestPartsAndCallsCount(t *testing.T) {
	drawn := func(width, height int) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	picture := func(data []byte) agent.Message {
		return agent.Message{Parts: []agent.Part{{MediaType: "image/png", Data: data}}}
	}
	for name, c := range map[string]struct {
		message agent.Message
		want    int
	}{
		"empty":          {agent.Message{}, 3},
		"role":           {agent.Message{Role: agent.RoleTool}, 4},
		"reasoning":      {agent.Message{Reasoning: "hello world"}, 5},
		"call":           {agent.Message{ToolCalls: []agent.ToolCallRequest{{Name: "look", Args: json.RawMessage("{}")}}}, 8},
		"small image":    {picture(drawn(10, 10)), 3 + 255},
		"square image":   {picture(drawn(1024, 1024)), 3 + 765},
		"tall image":     {picture(drawn(2048, 4096)), 3 + 1105},
		"thin image":     {picture(drawn(1, 4096)), 3 + 85 + 4*170},
		"broken image":   {picture([]byte("png")), 3 + 1105},
		"image by URL":   {agent.Message{Parts: []agent.Part{{MediaType: "image/png", URL: "https://a/b"}}}, 3 + 1105},
		"text":           {agent.Message{Parts: []agent.Part{{MediaType: "text/plain", Data: []byte("hello world")}}}, 5},
		"something else": {agent.Message{Parts: []agent.Part{{MediaType: "audio/wav", Data: make([]byte, 400)}}}, 103},
	} {
		t.Run(name, func(t *testing.T) {
			if got := of(t, "o200k_base").CountTokens([]agent.Message{c.message}); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// The loop counts each stored message once and adds up the counts.
func TestCountsOfMessagesAddUp(t *testing.T) {
	messages := func() []agent.Message {
		return []agent.Message{
			{Role: agent.RoleSystem, Content: "Be brief. \xff\x00"},
			{Role: agent.RoleUser, Name: "ann", Content: strings.Repeat("ab", 2000), Parts: []agent.Part{
				{MediaType: "image/png", Data: []byte("no image")}, {MediaType: "text/plain", Data: []byte("text")},
				{MediaType: "application/pdf", URL: "https://a/b"}, {},
			}},
			{Role: agent.RoleAssistant, Reasoning: "hm", ToolCalls: []agent.ToolCallRequest{
				{ID: "1", Name: "look", Args: json.RawMessage(`not JSON`)}, {},
			}},
			{Role: agent.RoleTool, Name: "look", ToolCallID: "1", Content: "error", IsError: true}, {},
		}
	}
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		t.Run(encoding, func(t *testing.T) {
			c, all := of(t, encoding), messages()
			sum := 0
			for _, m := range all {
				n := c.CountTokens([]agent.Message{m})
				if n <= 0 {
					t.Errorf("%+v counts %d", m, n)
				}
				sum += n
			}
			if got := c.CountTokens(all); got != sum || c.CountTokens(nil) != 0 {
				t.Errorf("together they count %d, one by one %d", got, sum)
			}
			if !reflect.DeepEqual(all, messages()) {
				t.Error("the messages were changed")
			}
		})
	}
}

// A recorder counts nothing and records the texts that it should encode.
type recorder struct{ texts []string }

func (r *recorder) Count(text string) (int, error) {
	r.texts = append(r.texts, text)
	return 0, nil
}

// longest returns the length of the longest run of a text that cannot be cut without changing its tokens.
func longest(text string) (most int) {
	run, word := 0, false
	for i, r := range text {
		if word && endsWord(r) {
			run = i
		}
		most, word = max(most, i+len(string(r))-run), isWord(r)
	}
	return most
}

func TestWorkIsBounded(t *testing.T) {
	for name, unit := range map[string]string{
		"letters": "a", "digits": "7", "spaces": " ", "marks": "=", "Chinese": "我", "apostrophes": "a'", "emoji": "👍",
		"invalid": "\xff", "newlines": "\n", "accents": "\u0301", "base64": "aGVsbG8gd29ybGQ",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(unit, 1<<20/len(unit))
			r := new(recorder)
			(&Counter{codec: r}).CountText(text)
			if got := strings.Join(r.texts, ""); got != text {
				t.Errorf("%d of %d bytes were encoded", len(got), len(text))
			}
			if limit := len(text)/maxRun + 1; len(r.texts) > limit {
				t.Errorf("%d calls, the limit is %d", len(r.texts), limit)
			}
			for _, part := range r.texts {
				if n := longest(part); n > maxRun+4 {
					t.Fatalf("a run of %d bytes is encoded at once", n)
				}
			}
		})
	}
}

func TestOrdinaryTextIsEncodedAtOnce(t *testing.T) {
	for name, text := range map[string]string{
		"English": strings.Repeat("The quick brown fox isn't lazy, it says.\n", 1000),
		"Chinese": strings.Repeat("我们，他们；你好。", 1000),
		"JSON":    strings.Repeat(`{"a":[1,2,{"b":"c"}]},`, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			r := new(recorder)
			(&Counter{codec: r}).CountText(text)
			if len(r.texts) != 1 {
				t.Errorf("it is encoded in %d parts", len(r.texts))
			}
		})
	}
}

// Tokens never reach over a boundary: cutting a text there does not change its count.
func TestBoundariesDoNotChangeCounts(t *testing.T) {
	const alphabet = "aZé我0५ \n\t.,'-/=👍\u0301(\u00a0$"
	letters := []rune(alphabet)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var text []rune
		for range 1 + random.IntN(30) {
			text = append(text, letters[random.IntN(len(letters))])
		}
		for _, encoding := range []string{"o200k_base", "cl100k_base"} {
			c := of(t, encoding)
			whole := c.count(string(text))
			for i := 1; i < len(text); i++ {
				if !isWord(text[i-1]) || !endsWord(text[i]) {
					continue
				}
				if got := c.count(string(text[:i])) + c.count(string(text[i:])); got != whole {
					t.Errorf("%s: %q has %d tokens, cut at %d %d", encoding, string(text), whole, i, got)
				}
			}
		}
	}
}

func TestLongRunsAreCountedClosely(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, alphabet := range map[string]string{
		"base64": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "hexadecimal": "0123456789abcdef",
		"digits": "0123456789", "one letter": "a", "spaces": " ", "marks": "=-", "words": "etaoinshrdlu",
		"Chinese": "我们他是的在有人这中大来上国",
	} {
		t.Run(name, func(t *testing.T) {
			letters := []rune(alphabet)
			var text strings.Builder
			for text.Len() < 8*maxRun {
				text.WriteRune(letters[random.IntN(len(letters))])
			}
			for _, encoding := range []string{"o200k_base", "cl100k_base"} {
				c := of(t, encoding)
				exact, got := c.count(text.String()), c.CountText(text.String())
				cuts := text.Len() / maxRun
				if got < exact || got > exact+5*cuts {
					t.Errorf("%s: got %d, exact %d, %d cuts", encoding, got, exact, cuts)
				}
			}
		})
	}
}

func TestCountersAreSafeForConcurrentUse(t *testing.T) {
	c := of(t, "o200k_base")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if got := c.CountText("We know what we are, but know not what we may be."); got != 14 {
					t.Errorf("got %d", got)
				}
			}
		})
	}
	all.Wait()
}

func FuzzCounts(f *testing.F) {
	f.Add("hello world")
	f.Add("\xff\u0301'' a\r\n")
	f.Add(strings.Repeat("a", 2000))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 3*maxRun {
			return
		}
		c := of(t, "o200k_base")
		got, exact := c.CountText(text), c.count(text)
		if longest(text) <= maxRun && got != exact {
			t.Errorf("%q: got %d, exact %d", text, got, exact)
		}
		if got < exact || got > exact+5*(len(text)/maxRun) {
			t.Errorf("%q: got %d, exact %d", text, got, exact)
		}
		if got > 3*len(text) {
			t.Errorf("%q has %d bytes and %d tokens", text, len(text), got)
		}
		c.countPart(agent.Part{MediaType: "image/png", Data: []byte(text)})
	})
}
