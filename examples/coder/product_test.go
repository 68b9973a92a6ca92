package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestDifferencesFollowEachOther: one reply edits a file twice, and the second edit needs the first. Each question has
// the name of the file and the difference that the edit will make.
func TestDifferencesFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	edit := func(old, text string) looptest.Turn {
		return looptest.Call("edit", map[string]string{"path": "a.txt", "old": old, "new": text})
	}
	c, out := newTest(t, dir, "go\ny\ny\n", looptest.Calls(edit("one", "two"), edit("two", "three")),
		looptest.Reply("done"))
	if err := c.talk(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	one, two := strings.Index(got, "a.txt, line 1\n- one\n+ two\n"), strings.Index(got, "a.txt, line 1\n- two\n+ three\n")
	if one < 0 || two < one || strings.Count(got, "+ two") != 1 {
		t.Errorf("the terminal shows:\n%s", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "three\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
}

func TestCostShowsEachModel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(file, []byte(`{"good": {"Input": 3, "Output": 15}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	prices, err := readPrices(file)
	if err != nil {
		t.Fatal(err)
	}
	by := func(model string) looptest.Turn {
		return looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			use := agent.Usage{Input: 1_000_000, Output: 100_000}
			return agent.LLMResponse{Content: "done", Model: model, Usage: use}, nil
		})
	}
	c, out := newTest(t, t.TempDir(), "/cost\none\ntwo\n/cost\n",
		by("good"), by("other"))
	c.price(prices)
	if err := c.talk(t.Context()); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"No model was called yet.", "good 1000000 0 100000 $4.5000", "other 1000000 0 100000 unknown", "-prices FILE",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestPricesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`{"m": {"input_price": 3}}`: "unknown field",
		`{"m": {"Input": -3}}`:      "negative",
		`[]`:                        "want {",
	} {
		file := filepath.Join(t.TempDir(), "prices.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readPrices(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestScreenShowsThatTheProgramWaits: on a screen, a line says for what and for how long. It is gone before the next
// text, and while the user is asked.
func TestScreenShowsThatTheProgramWaits(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		user := &terminal{out: &out, markup: markup(80), asked: make(map[string]bool)}
		user.show(loop.Event{Kind: loop.EventStep})
		time.Sleep(2500 * time.Millisecond)
		user.show(loop.Event{Kind: loop.EventChunk, Chunk: &agent.Chunk{
			Attempt: 1, Delta: agent.Delta{Content: "It is **three** words"},
		}})
		time.Sleep(time.Second)
		user.show(loop.Event{Kind: loop.EventReply, Response: &agent.LLMResponse{Content: "It is **three** words"}})
		user.asks("c1")
		user.printf("Allow? ")
		time.Sleep(time.Minute)
		const erased = "\r\x1b[K"
		want := "… the model thinks (1s)" + erased + "… the model thinks (2s)" + erased + "… the model writes, 3 words (3s)" +
			erased
		got := out.String()
		if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\nAllow? ") {
			t.Errorf("the screen gets %q", got)
		}
	})
}

// TestScreenGetsNoCommandsOfOthers: a reply has codes that would clear the screen, hide text or turn its direction, as
// characters and as references of Markdown. The library itself writes colours.
func TestScreenGetsNoCommandsOfOthers(t *testing.T) {
	for _, text := range []string{
		"# a\x1b[2Jb", "`\x1b]0;title\x07`", "[link](http://example.com/\x1b[2J)", "&#27;[8mhidden", "&#x1B;[8mhidden",
		"&amp;#27;[8mhidden", "&amp;amp;#27;[8mhidden", "[&#27;[8mhidden](x)", "![&#27;[8mhidden](x)", "&#8238;txt.exe",
		"| a |\n|---|\n| &#27;[8mhidden |", "```\n&#27;[8mhidden\n```", "<b title='&#27;[8mhidden'>x</b>",
	} {
		var out strings.Builder
		user := &terminal{out: &out, markup: markup(80), asked: make(map[string]bool)}
		user.reply(text)
		shown := colours.ReplaceAllString(out.String(), "")
		if strings.ContainsAny(shown, "\x1b\x07\u202e") || strings.Contains(out.String(), "\x1b[8m") {
			t.Errorf("%q: the screen gets %q", text, out.String())
		}
	}
}
