package pagetest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write the pictures of the page into docs/hooks")

// dark chooses the dark scheme, or the light one.
func (p *tab) scheme(dark bool) {
	p.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	p.do(send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: value}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}))
}

// showsPictures takes the pictures of the documentation. With -update it writes them.
func showsPictures(t *testing.T, p *tab) {
	p.write(agentStory()...)
	p.open()
	for _, c := range []struct {
		name, hash, until string
		dark              bool
	}{
		{"hooklog.png", "#run=e07a9d35", `document.querySelector('.bar-of.person')`, false},
		{"hooklog-dark.png", "#run=e07a9d35", `document.querySelector('.bar-of.person')`, true},
		{"hooklog-conversation.png", "#run=e07a9d35&view=talk", `document.querySelector('.talk .added')`, false},
		{"hooklog-compare.png", "#run=5c1e&with=77ab", `document.querySelector('.pair')`, false},
	} {
		p.scheme(c.dark)
		p.do(chromedp.EmulateViewport(1160, 800), chromedp.Navigate(p.base()+c.hash), chromedp.Reload(), until(c.until))
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil || len(picture) < 20_000 {
			t.Fatalf("the picture %s has %d bytes: %v", c.name, len(picture), err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(root, "docs/hooks", c.name), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
