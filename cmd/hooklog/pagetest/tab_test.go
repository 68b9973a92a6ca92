package pagetest

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
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

// A tab is a tab of the browser. It remembers the requests of the page and the errors in its console.
type tab struct {
	t       *testing.T
	ctx     context.Context
	record  string
	address string
	open    func()

	mu       sync.Mutex
	requests []string
	errors   []string
	failing  bool // the test expects errors in the console, for example of a connection that ends
}

// An opener shows a record with a command of hooklog, and returns the address of the page.
type opener func(t *testing.T, hooklog string, args ...string) (address string)

// openTab makes an empty tab. The test writes a record and then calls open. At the end of the test, every request of
// the page must have gone to its own origin, and nothing may have failed in the page.
func openTab(t *testing.T, browser context.Context, hooklog string, open opener, flags ...string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, record: filepath.Join(t.TempDir(), "run.jsonl")}
	err := chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			p.requests = append(p.requests, e.Request.URL)
		case *runtime.EventExceptionThrown:
			p.errors = append(p.errors, fmt.Sprintf("%s, line %d: %s", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber,
				e.ExceptionDetails.Exception.Description))
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
				p.errors = append(p.errors, e.Entry.Text)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	p.open = func() {
		t.Helper()
		p.address = open(t, hooklog, append(flags, p.record)...)
		t.Cleanup(p.check) // before the server ends
		p.do(send(network.Enable, network.EnableParams{}), send(log.Enable, cdp.Empty{}),
			chromedp.EmulateViewport(1200, 800), chromedp.Navigate(p.address),
			until(`document.querySelector('#list [data-row]') && document.querySelector('main').childElementCount`))
	}
	return p
}

// base returns the address of the page without its token, which the cookie has.
func (p *tab) base() string {
	base, _, _ := strings.Cut(p.address, "?")
	return base
}

// check reports requests of the page that went elsewhere, and errors in the page.
func (p *tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, err := url.Parse(p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, request := range p.requests {
		to, err := url.Parse(request)
		if err != nil || to.Scheme != own.Scheme || to.Host != own.Host || own.Scheme == "file" && to.Path != own.Path {
			p.t.Errorf("the page asked for %s", request)
		}
	}
	if len(p.requests) == 0 {
		p.t.Error("no request was seen, not even that of the page")
	}
	for _, e := range p.errors {
		if !p.failing {
			p.t.Errorf("an error in the page: %s", e)
		}
	}
}

// serve starts hooklog serve and returns the address that it prints.
func serve(t *testing.T, hooklog string, args ...string) string {
	t.Helper()
	address, _ := start(t, hooklog, args...)
	return address
}

// start starts hooklog serve and returns the address that it prints, and a function that ends it.
func start(t *testing.T, hooklog string, args ...string) (address string, end func()) {
	t.Helper()
	cmd := exec.Command(hooklog, append([]string{"serve"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() {
		_ = cmd.Process.Kill() // it has ended already if it failed
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("hooklog printed %q: %v", line, err)
	}
	return strings.TrimSpace(line), end
}

// html writes the page with hooklog html and returns its address.
func html(t *testing.T, hooklog string, args ...string) string {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	out, err := exec.Command(hooklog, append([]string{"html", "-o", page}, args...)...).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	return "file://" + filepath.ToSlash(page)
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		body, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.querySelector('main').innerText.slice(0, 3000)`))
		p.t.Fatalf("%v\nthe page shows:\n%s\nerrors: %q", err, body, p.errors)
	}
}

// until waits for an expression in JavaScript.
func (p *tab) until(format string, args ...any) {
	p.t.Helper()
	p.do(until(fmt.Sprintf(format, args...)))
}

// get evaluates an expression in JavaScript.
func get[T any](p *tab, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// run runs statements in JavaScript.
func (p *tab) run(format string, args ...any) {
	p.t.Helper()
	get[chromedp.Void](p, "{"+fmt.Sprintf(format, args...)+"}")
}

// choose chooses a value of a select, or enters it in an input.
func (p *tab) choose(id, value string) {
	p.t.Helper()
	p.run(`const e = document.getElementById(%q); e.value = %s;
		e.dispatchEvent(new Event(e.matches('select') ? 'change' : 'input'))`, id, encode(value))
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return get[string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText).join('\n')`, selector))
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// keys presses keys, which have the names that scripts see. chromedp.KeyEvent sends the character of a key separately,
// so that it arrives in an input even if the script has handled the key.
func (p *tab) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		e := input.DispatchKeyEventParams{Type: "keyDown", Key: k}
		switch k {
		case "Enter":
			e.Text, e.WindowsVirtualKeyCode = "\r", 13
		case "Escape":
			e.WindowsVirtualKeyCode = 27
		case "Tab":
			e.WindowsVirtualKeyCode = 9
		case "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight":
		default:
			e.Text = k
		}
		up := e
		up.Type, up.Text = "keyUp", ""
		p.do(send(input.DispatchKeyEvent, e), send(input.DispatchKeyEvent, up))
	}
}

// want waits until the elements of a selector show all of the texts.
func (p *tab) want(selector string, texts ...string) {
	p.t.Helper()
	p.until(`(shown => %s.every(t => shown.includes(t)))(
		[...document.querySelectorAll(%q)].map(e => e.innerText).join('\n'))`,
		encode(texts), selector)
}
