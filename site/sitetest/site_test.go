package sitetest

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const dist = "../.vitepress/dist"

var screenshot = flag.String("screenshot", "", "write a picture of the playground to this `FILE`")

// A tab is a tab of the browser with a page of the site.
type tab struct {
	t      *testing.T
	ctx    context.Context
	server *httptest.Server

	mu       sync.Mutex
	requests []string
	errors   []string
}

// open opens a page of the site. The test is skipped if the site was not built or there is no browser.
func open(t *testing.T, page string) *tab {
	t.Helper()
	return openAt(t, http.FileServer(http.Dir(dist)), page)
}

// openAt opens a page of a server.
func openAt(t *testing.T, site http.Handler, page string) *tab {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dist, "index.html")); err != nil {
		t.Skip("the site is not built: run npm run build in its folder")
	}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	ctx, end := browser(t)
	t.Cleanup(end)
	p := &tab{t: t, ctx: ctx, server: server}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	p.do(send(network.Enable, network.EnableParams{}), send(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(1600, 1000),
		chromedp.Navigate(server.URL+page))
	t.Cleanup(p.check)
	return p
}

// browser starts a browser without a window.
func browser(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("headless", true),
			chromedp.Flag("no-sandbox", true), // the sandbox does not work as root, and the browser only shows the site
			chromedp.Flag("disable-gpu", true), chromedp.Flag("no-first-run", true),
			chromedp.Flag("disable-component-update", true))
		ctx, endProcess := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, endTab := chromedp.NewContext(ctx)
		return ctx, func() { endTab(); endProcess() }
	}
	t.Skip("there is no Chromium here: install it, or name it in the environment variable CHROMIUM")
	return nil, nil
}

// hear remembers the requests of the page and the errors in its console.
func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		p.errors = append(p.errors, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
			p.errors = append(p.errors, e.Entry.Text)
		}
	}
}

// check reports requests that left the site, and errors in the page.
func (p *tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if !strings.HasPrefix(r, p.server.URL) && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "blob:") {
			p.t.Errorf("the page asked for %s", r)
		}
	}
	for _, e := range p.errors {
		p.t.Errorf("an error in the page: %s", e)
	}
}

// forgive forgets errors in the page that have a text.
func (p *tab) forgive(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = slices.DeleteFunc(p.errors, func(e string) bool { return strings.Contains(e, text) })
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// until waits until an expression in JavaScript is true.
func (p *tab) until(format string, args ...any) {
	p.t.Helper()
	expression := fmt.Sprintf(format, args...)
	wait := chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`new Promise(done => {
		const look = () => { if (%s) { clearInterval(timer); done(); } };
		const timer = setInterval(look, 20);
		look();
	})`, expression), chromedp.EvalAwaitPromise)
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Minute)
	defer cancel()
	if _, err := chromedp.Run(ctx, wait); err != nil {
		p.t.Fatalf("waiting for %s: %v; the page has: %s", expression, err, p.text("body"))
	}
}

func (p *tab) text(selector string) string {
	return p.value(fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// value returns the value of an expression as a text.
func (p *tab) value(expression string) string {
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// edit replaces text in an editor of the playground, as typing does.
func (p *tab) edit(editor int, old, now string) {
	p.t.Helper()
	p.until(`(() => {
		const box = document.querySelectorAll('.play textarea')[%d];
		if (!box.value.includes(%[2]q)) { return false; }
		box.value = box.value.replace(%[2]q, %[3]q);
		box.dispatchEvent(new Event('input'));
		return true;
	})()`, editor, old, now)
}

// keys presses keys, which have the names that scripts see.
func (p *tab) keys(keys ...string) {
	p.t.Helper()
	codes := map[string]int64{"Tab": 9, "Escape": 27, "Backspace": 8, "Home": 36}
	for _, k := range keys {
		down := input.DispatchKeyEventParams{Type: "keyDown", Key: k, WindowsVirtualKeyCode: codes[k]}
		if len(k) == 1 {
			down.Text = k
		}
		up := down
		up.Type, up.Text = "keyUp", ""
		p.do(send(input.DispatchKeyEvent, down), send(input.DispatchKeyEvent, up))
	}
}

func send[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, command, params)
		return chromedp.Void{}, err
	}
}

func TestSearchFindsPages(t *testing.T) {
	p := open(t, "/hooks/")
	p.until(`document.querySelector('.VPNavBarSearch button')`)
	p.until(`(document.querySelector('.VPNavBarSearch button').click(), true)`)
	p.until(`document.querySelector('.search-input')`)
	p.until(`(() => { const box = document.querySelector('.search-input'); box.value = 'FailClosed';
		box.dispatchEvent(new Event('input')); return true })()`)
	p.until(`document.querySelectorAll('.VPLocalSearchBox .result').length > 3`)
}

// TestPagesReadWithoutScripts reads the files as a browser without JavaScript does.
func TestPagesReadWithoutScripts(t *testing.T) {
	if _, err := os.Stat(filepath.Join(dist, "index.html")); err != nil {
		t.Skip("the site is not built: run npm run build in its folder")
	}
	for file, text := range map[string]string{
		"index.html": "A wrong hook does not compile", "hooks/language.html": "FailClosed",
		"agents/index.html": "agent", "gallery.html": "reverse proxy", "playground.html": "it needs JavaScript",
	} {
		page, err := os.ReadFile(filepath.Join(dist, file))
		if err != nil || !strings.Contains(string(page), text) {
			t.Errorf("%s does not have %q, %v", file, text, err)
		}
	}
	if page, _ := os.ReadFile(filepath.Join(dist, "playground.html")); !regexp.MustCompile(
		`(?s)needs JavaScript.*<textarea`).Match(page) {
		t.Error("the playground says below its editors that they need JavaScript")
	}
	pages := 0
	err := filepath.WalkDir(dist, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" || filepath.Base(path) == "404.html" {
			return err
		}
		pages++
		page, err := os.ReadFile(path)
		_, body, _ := strings.Cut(string(page), "<body")
		if text := tags.ReplaceAllString(body, ""); len(text) < 300 || !strings.Contains(body, "<h1") {
			t.Errorf("%s has a text of %d bytes", path, len(text))
		}
		return err
	})
	if err != nil || pages < 50 {
		t.Errorf("%d pages, %v", pages, err)
	}
}

// tags are what a browser does not show of the text of a page.
var tags = regexp.MustCompile(`(?s)<(script|style).*?</(script|style)>|<[^>]*>`)
