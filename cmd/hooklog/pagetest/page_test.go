package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// build builds hooklog and returns the path of the program.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hooklog.exe")
	command := exec.CommandContext(t.Context(), "go", "-C", root, "build", "-o", path, "./cmd/hooklog")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestPage checks the page in a browser, as hooklog serve shows it, and as hooklog html writes it.
func TestPage(t *testing.T) {
	path, err := findBrowser()
	if err != nil {
		t.Skip(err)
	}
	hooklog := build(t)
	browser, end := startBrowser(context.Background(), path)
	t.Cleanup(end)
	if err := chromedp.Do(browser); err != nil {
		t.Fatal(err)
	}
	for _, form := range []struct {
		name string
		open func(t *testing.T, hooklog, record string) (address string)
	}{{"serve", serve}, {"html", html}} {
		t.Run(form.name, func(t *testing.T) {
			for name, test := range map[string]func(*testing.T, *tab){
				"opens a run": opensRun, "nests runs": nestsRuns, "shows a difference": showsDifference,
				"searches": searches, "filters": filters, "has keys": hasKeys, "is accessible": isAccessible,
				"fits a narrow window": fitsNarrowWindow, "goes back": goesBack,
				"shows hostile texts": showsHostileTexts, "shortens long texts": shortensLongTexts,
				"shows damaged lines": showsDamagedLines, "connects to nothing else": connectsToNothingElse,
			} {
				t.Run(name, func(t *testing.T) { test(t, openTab(t, browser, hooklog, form.open)) })
			}
		})
	}
	for name, test := range map[string]func(*testing.T, *tab){
		"follows a live run": followsLiveRun, "lists new runs": listsNewRuns, "reads a shorter file again": readsShorterFile,
	} {
		t.Run(name, func(t *testing.T) { test(t, openTab(t, browser, hooklog, serve)) })
	}
}

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
}

// openTab makes an empty tab. The test writes a record and then calls open. At the end of the test, every request of
// the page must have gone to its own origin, and nothing may have failed in the page.
func openTab(t *testing.T, browser context.Context, hooklog string, open func(*testing.T, string, string) string) *tab {
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
		p.address = open(t, hooklog, p.record)
		t.Cleanup(p.check) // before the server ends
		p.do(send(network.Enable, network.EnableParams{}), send(log.Enable, cdp.Empty{}),
			chromedp.EmulateViewport(1200, 800), chromedp.Navigate(p.address),
			until(`document.querySelector('#list [data-row]') && document.querySelector('main').childElementCount`))
	}
	return p
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
		p.t.Errorf("an error in the page: %s", e)
	}
}

// serve starts hooklog serve and returns the address that it prints.
func serve(t *testing.T, hooklog, record string) string {
	t.Helper()
	cmd := exec.Command(hooklog, "serve", record)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended already if it failed
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("hooklog printed %q: %v", line, err)
	}
	return strings.TrimSpace(line)
}

// html writes the page with hooklog html and returns its address.
func html(t *testing.T, hooklog, record string) string {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	if out, err := exec.Command(hooklog, "html", "-o", page, record).CombinedOutput(); err != nil && len(out) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	return "file://" + filepath.ToSlash(page)
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		body, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText.slice(0, 3000)`))
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
		case "ArrowUp", "ArrowDown":
		default:
			e.Text = k
		}
		up := e
		up.Type, up.Text = "keyUp", ""
		p.do(send(input.DispatchKeyEvent, e), send(input.DispatchKeyEvent, up))
	}
}

// want reports which of the texts an element does not contain.
func (p *tab) want(selector string, texts ...string) {
	p.t.Helper()
	got := p.text(selector)
	for _, text := range texts {
		if !strings.Contains(got, text) {
			p.t.Errorf("%s does not show %q:\n%s", selector, text, got)
		}
	}
}

// An eventChange changes an event of the test.
type eventChange func(*hooklog.Event)

// write appends events to the record, as a program does.
func (p *tab) write(events ...hooklog.Event) {
	p.t.Helper()
	log, err := hooklog.Open(p.record)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range events {
		if err := log.WriteEvent(p.ctx, e); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// event returns an event of a run at a point.
func event(seq int64, run, point string, changes ...eventChange) hooklog.Event {
	e := hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Time: time.Date(2026, 1, 2, 3, 4, int(seq), 0, time.UTC), Spec: "example.com/mail",
		Point: point, Run: wire.RunInfo{ID: run, Root: run}, Payload: json.RawMessage(`{"To":"you","Text":"Hello"}`),
		Decision: wire.Continue, Elapsed: 1500 * time.Nanosecond,
	}
	for _, change := range changes {
		change(&e)
	}
	return e
}

func denied(e *hooklog.Event) {
	e.Decision, e.By, e.Site, e.Reason = "Refuse", "team.Guard", "guard.go:7", "not to strangers"
	e.Value = json.RawMessage(`{"Reason":"not to strangers"}`)
	e.Ballots = []hooklog.Ballot{{By: "other.Voter", Site: "other.go:1", Decision: "Allow", Reason: "why not"}}
}

func payload(text string) eventChange {
	return func(e *hooklog.Event) {
		encoded, err := json.Marshal(map[string]string{"Text": text})
		if err != nil {
			panic(err)
		}
		e.Payload = encoded
	}
}

func failed(e *hooklog.Event) {
	e.Failures = []hooklog.Failure{{By: "broken.Hook", Site: "broken.go:3", Cause: "out of paper"}}
}

func below(parent string) eventChange { return func(e *hooklog.Event) { e.Run.Parent = parent } }

func opensRun(t *testing.T, p *tab) {
	p.write(event(1, "older", "BeforeSend"), event(2, "newer", "BeforeSend"), event(3, "newer", "AfterSend", denied),
		event(4, "newer", "OnClose", failed))
	p.open()
	p.want("#list", "Run newer\n3 fires\n1 exit\n1 failure\n2.0 s", "Run older\n1 fire")
	if got := p.text("#list li:first-child .title"); got != "Run newer" {
		t.Errorf("the first run is %q", got)
	}
	p.click("#list li:last-child button")
	p.until(`document.querySelector('main h2').innerText === 'Run older'`)
	p.click("#list li:first-child button")
	p.until(`document.querySelector('main h2').innerText === 'Run newer'`)
	p.want(".fires > li:first-child", `{"To":"you","Text":"Hello"}`)
	p.want(".fires", "+0 µs", "+1.0 s", "AfterSend\nRefuse team.Guard not to strangers\n2 µs", "failed out of paper")
	p.click(".fires > li:nth-child(2) > button")
	p.until(`document.querySelector('.detail')`)
	p.want(".detail", "Refuse", "team.Guard guard.go:7", "not to strangers", "other.Voter other.go:1", "why not",
		"number 3, run.jsonl:3", `"Reason": "not to strangers"`, `"To": "you",`)
	p.click(".fires > li:nth-child(3) > button")
	p.until(`document.querySelectorAll('.detail').length === 2`)
	p.want(".fires > li:nth-child(3) .detail", "broken.Hook broken.go:3", "out of paper")
}

func nestsRuns(t *testing.T, p *tab) {
	p.write(event(1, "parent", "BeforeTool"), event(2, "child", "OnRunStart", below("parent")),
		event(3, "grandchild", "OnRunStart", below("child"), denied), event(4, "child", "OnRunEnd", below("parent")),
		event(5, "parent", "AfterTool"))
	p.open()
	p.until(`document.querySelectorAll('.fires .fires .fires .row').length === 1`)
	if got := p.text("#list .title"); got != "Run parent" {
		t.Errorf("the list of runs is %q", got)
	}
	points := get[string](p, `[...document.querySelectorAll('.fires > li')]
		.map(l => l.querySelector('.row > :nth-child(2)').innerText.split('\n')[0].replace(/Run (\w+).*/, '$1')).join(' ')`)
	if want := "BeforeTool child OnRunStart grandchild OnRunStart OnRunEnd AfterTool"; points != want {
		t.Errorf("the timeline is %q, want %q", points, want)
	}
	p.click(".fires > li.sub > button")
	p.until(`document.querySelectorAll('.fires .fires').length === 0`)
	p.do(chromedp.Navigate(p.address+"#run=grandchild"), chromedp.Reload())
	p.until(`document.querySelector('main h2')?.innerText === 'Run grandchild'`)
	p.want(".above", "Run parent › Run child ›")
	p.click(".above button")
	p.until(`document.querySelector('main h2').innerText === 'Run parent'`)
}

func showsDifference(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend", func(e *hooklog.Event) {
		e.Decision, e.By, e.Reason = wire.Replace, "polite.Hook", "manners"
		e.Payload = json.RawMessage(`{"To":"you","Text":"Send me the \u003creport\u003e now\nand more"}`)
		e.Final = json.RawMessage(`{"To":"you","Text":"Send me the \u003creport\u003e please\nand more"}`)
	}))
	p.open()
	p.click(".fires .row")
	p.until(`document.querySelector('.detail .removed')`)
	p.want("pre .removed", `"Text": "Send me the <report> now\n`)
	p.want("pre .added", `"Text": "Send me the <report> please\n`)
	p.want("pre .removed mark", "now")
	p.want("pre .added mark", "please")
	p.want("pre", `"To": "you",`, `and more"`)
	p.do(chromedp.Click(`//button[contains(., "Show the whole payload before")]`))
	p.until(`document.querySelector('pre').innerText.includes('now') && !document.querySelector('pre .added')`)
	p.do(chromedp.Click(`//button[contains(., "Show the whole payload after")]`))
	p.until(`document.querySelector('pre').innerText.includes('please')`)
}

func searches(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend", payload("a needle <in> a Haystack")), event(2, "b", "BeforeSend"),
		event(3, "c", "BeforeSend", denied))
	p.open()
	for _, c := range []struct{ text, title, found string }{
		{"HAYSTACK", "1 fire found", "run a"},
		{"needle <in>", "1 fire found", "run a"},
		{"to strangers", "1 fire found", "Refuse"},
		{"team.guard", "1 fire found", "run c"},
		{"BeforeSend", "3 fires found", "run b"},
		{"no such text", "0 fires found", ""},
	} {
		p.click("#text")
		p.run(`document.getElementById('text').value = ''`)
		p.keys(strings.Split(c.text, "")...)
		p.until(`document.getElementById('list-title').innerText === %q &&
			document.getElementById('list').innerText.includes(%q)`, c.title, c.found)
	}
	p.run(`document.getElementById('text').value = ''`)
	p.keys("n", "e", "e", "d")
	p.until(`document.getElementById('list-title').innerText === '1 fire found' && document.querySelector('#list button')`)
	p.click("#list button")
	p.until(`document.querySelector('main h2').innerText === 'Run a' && document.querySelector('.detail')`)
	p.want(".detail", "a needle <in> a Haystack")
	p.click("#text")
	p.keys("Escape")
	p.until(`document.getElementById('list-title').innerText === 'Runs'`)
	p.until(`document.querySelectorAll('#list li').length === 3`)
	p.want("#list", "Run a", "Run b", "Run c")
}

func filters(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"), event(2, "a", "AfterSend", denied), event(3, "b", "BeforeSend", failed))
	p.open()
	p.click("#filters summary")
	for _, c := range []struct{ filter, value, title string }{
		{"point", "BeforeSend", "2 fires found"}, {"hook", "team.Guard", "1 fire found"},
		{"decision", "continue", "2 fires found"}, {"kind", "decisions", "2 fires found"},
		{"kind", "failures", "1 fire found"},
	} {
		const choose = `const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event('change'))`
		p.run(choose, c.filter, c.value)
		p.until(`document.getElementById('list-title').innerText === %q`, c.title)
		p.run(choose, c.filter, "")
		p.until(`document.getElementById('list-title').innerText === 'Runs'`)
	}
	p.until(`document.querySelectorAll('#list li').length === 2`)
	p.click("#list li:last-child button")
	p.until(`document.querySelectorAll('.fires .row').length === 2`)
	p.click(".tools input")
	p.until(`document.querySelectorAll('.fires .row').length === 1`)
	p.want(".fires", "AfterSend")
}

// hasKeys uses the page without a mouse.
func hasKeys(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"), event(2, "b", "BeforeSend"), event(3, "b", "AfterSend", denied))
	p.open()
	focused := func(text string) {
		t.Helper()
		p.until(`document.activeElement.innerText.includes(%q)`, text)
	}
	p.keys("/")
	p.until(`document.activeElement.id === 'text'`)
	p.keys("ArrowDown")
	focused("Run b")
	p.keys("j")
	focused("Run a")
	p.keys("j") // the last one
	focused("Run a")
	p.keys("ArrowUp")
	focused("Run b")
	p.keys("j", "Enter")
	p.until(`document.querySelector('main h2').innerText === 'Run a' && document.activeElement.closest('main')`)
	p.keys("Escape")
	focused("Run a")
	p.keys("k", "Enter")
	p.until(`document.querySelector('main h2').innerText === 'Run b'`)
	p.keys("j", "ArrowDown")
	focused("AfterSend")
	p.keys("Enter")
	p.until(`document.querySelector('.detail') && document.activeElement.getAttribute('aria-expanded') === 'true'`)
	p.keys("Tab")
	p.keys("Escape") // from within the fire
	p.until(`!document.querySelector('.detail')`)
	focused("AfterSend")
	p.keys("?")
	p.until(`document.getElementById('keys').open`)
	p.keys("Escape")
	p.until(`!document.getElementById('keys').open`)
	focused("AfterSend")
}

// isAccessible checks the roles, names and states that a screen reader depends on.
func isAccessible(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend", denied), event(2, "b", "BeforeSend"))
	p.open()
	p.click("#list li:last-child button")
	p.until(`document.querySelector('main h2').innerText === 'Run a'`)
	p.click(".fires .row")
	p.until(`document.querySelector('.detail')`)
	p.run(`window.all = selector => [...document.querySelectorAll(selector)]`)
	for _, c := range []struct{ name, expression string }{
		{"the page has one main, one named nav and one header", `all('main').length === 1 &&
			all('nav[aria-label]').length === 1 && all('body > header').length === 1`},
		{"exactly the opened run is the current one", `all('[aria-current]').length === 1 &&
			all('[aria-current]')[0].innerText.includes('Run a')`},
		{"rows are buttons in lists", `all('[data-row]').every(b => b.matches('ol > li > button'))`},
		{"rows of fires can be expanded", `all('main [data-row]').every(b => b.hasAttribute('aria-expanded'))`},
		{"inputs have names", `all('input, select').every(i => i.ariaLabel || i.closest('label'))`},
		{"buttons have names", `all('button').every(b => b.hidden || b.ariaLabel || b.textContent.trim())`},
		{"texts that scroll can be focused and have names", `all('pre').every(e => e.tabIndex === 0 && e.ariaLabel)`},
		{"tables have headings", `all('table').length > 0 && all('th').every(h => h.scope === 'col')`},
		{"there is a polite live region", `all('[aria-live=polite]').length === 1`},
		{"headings skip no level", `all('h1, h2, h3, h4').every((h, i, list) =>
			Number(h.tagName[1]) <= (i ? Number(list[i - 1].tagName[1]) : 0) + 1)`},
		{"the parts of a row are separate words", `all('.row')[0].textContent.includes(' BeforeSend Refuse team.Guard ')`},
	} {
		if !get[bool](p, c.expression) {
			t.Errorf("not so: %s", c.name)
		}
	}
}

func fitsNarrowWindow(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend", denied, payload(strings.Repeat("unbroken", 200))), event(2, "b", "BeforeSend"))
	p.open()
	p.do(chromedp.EmulateViewport(360, 640), chromedp.Reload())
	p.until(`document.querySelectorAll('#list [data-row]').length === 2`)
	p.click("#list li:last-child button")
	p.until(`document.querySelector('main h2')?.innerText === 'Run a'`)
	p.click(".fires .row")
	p.until(`document.querySelector('.detail')`)
	wide := get[int](p, `document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth`)
	if wide > 0 {
		t.Errorf("the run is %d pixels too wide", wide)
	}
	p.do(chromedp.Click(chromedp.CSS(".back")))
	p.until(`document.querySelector('nav').offsetParent !== null && !document.querySelector('main').offsetParent`)
}

// goesBack uses the button of the browser, in a wide window and in a narrow one.
func goesBack(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"), event(2, "b", "BeforeSend"))
	p.open()
	p.click("#list li:last-child button")
	p.until(`document.querySelector('main h2').innerText === 'Run a'`)
	p.run(`history.back()`)
	p.until(`document.querySelector('main h2').innerText === 'Run b'`)
	p.do(chromedp.EmulateViewport(360, 640), chromedp.Reload())
	p.until(`document.querySelectorAll('#list [data-row]').length === 2`)
	p.click("#list li:last-child button")
	p.until(`document.querySelector('main h2')?.innerText === 'Run a'`)
	p.run(`history.back()`)
	p.until(`document.querySelector('nav').offsetParent !== null && !document.querySelector('main').offsetParent`)
}

const hostile = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>" +
	"<!-- {{data}} \u2028 user\u202Etxt.exe \u200Bhidden\u0000 \U000E0041 &amp; \\u003cb\\u003e"

func showsHostileTexts(t *testing.T, p *tab) {
	e := event(1, hostile, hostile, payload(hostile), failed)
	e.Decision, e.By, e.Site, e.Reason, e.Error, e.Spec = hostile, hostile, hostile, hostile, hostile, hostile
	e.Run.Labels = map[string]string{hostile: hostile}
	e.Ballots = []hooklog.Ballot{{By: hostile, Site: hostile, Decision: hostile, Reason: hostile, Value: e.Payload}}
	e.Failures = []hooklog.Failure{{By: hostile, Site: hostile, Cause: hostile}}
	e.Value, e.Collected, e.Final = e.Payload, e.Payload, json.RawMessage(`{"`+`\u003cb\u003e`+`":"`+`\u202E`+`"}`)
	e.Payload = json.RawMessage(strings.Replace(string(e.Payload), `"Text"`, `"task"`, 1))
	p.write(e)
	p.open()
	p.click(".fires .row")
	p.until(`document.querySelector('.detail')`)
	p.want("main h2", "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>",
		"U+202Etxt.exe", "U+200Bhidden", "U+E0041", "&amp; \\u003cb\\u003e")
	p.want(".detail", "U+202Etxt.exe", "<b>", "U+2028")
	p.click("#text")
	p.keys("h", "a", "c", "k", "e", "d")
	p.until(`document.getElementById('list-title').innerText === '1 fire found'`)
	made := get[string](p, `(window.hacked || '') +
		[...document.querySelectorAll('img, iframe, b, script ~ script ~ script')].map(e => e.outerHTML).join()`)
	if made != "" {
		t.Errorf("a text became a part of the page: %s", made)
	}
	if get[bool](p, `/[\u202E\u200B\u0000]/.test(document.querySelector('.panes').innerText)`) {
		t.Error("the page has an invisible character")
	}
	if get[bool](p, `document.getElementById('point').innerText.includes('\u202E')`) {
		t.Error("a filter has an invisible character")
	}
}

func shortensLongTexts(t *testing.T, p *tab) {
	long := strings.Repeat("0123456789", 100_000) + "THE END"
	p.write(event(1, "a", "BeforeSend", payload(long)), event(2, "a", "AfterSend", payload(long), func(e *hooklog.Event) {
		e.Decision = wire.Replace
		e.Final = json.RawMessage(strings.Replace(string(e.Payload), "THE END", "A CHANGE", 1))
	}))
	p.open()
	p.click(".fires .row")
	p.until(`document.querySelector('.detail')`)
	if length := get[int](p, `document.querySelector('.detail').innerText.length`); length > 5000 {
		t.Errorf("%d characters are shown at once", length)
	}
	p.want(".detail", "974.6 KB more", "Show all of it (976.6 KB)")
	p.click(".after button")
	p.until(`document.querySelector('.detail pre').textContent.includes('THE END')`)
	p.until(`document.activeElement === document.querySelector('.detail pre')`)
	p.click(".fires > li:last-child > .row")
	p.until(`document.querySelectorAll('.detail').length === 2`)
	p.want("li:last-child .removed mark", "THE END")
	p.want("li:last-child .added mark", "A CHANGE")
	if length := get[int](p, `document.querySelector('li:last-child .detail').innerText.length`); length > 5000 {
		t.Errorf("%d characters of the difference are shown at once", length)
	}
}

func showsDamagedLines(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"))
	f, err := os.OpenFile(p.record, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(f, `{"protocol":1,`+"\n"+
		`{"protocol":2,"spec":"s","point":"p","payload":1,"decision":"d"}`+"\n")
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	p.write(event(2, "a", "AfterSend"))
	p.open()
	p.want("#problems summary", "2 remarks about the record")
	p.click("#problems summary")
	p.want("#problems", "run.jsonl:2: it is not an event", "run.jsonl:3: it was written by version 2 of the protocol")
	p.want(".fires", "BeforeSend", "AfterSend")
}

// connectsToNothingElse runs a script in the page that tries to connect to another server.
func connectsToNothingElse(t *testing.T, p *tab) {
	asked := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer other.Close()
	p.write(event(1, "a", "BeforeSend"))
	p.open()
	results, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](fmt.Sprintf(`(async () => {
		const address = %q, results = [];
		await fetch(address + '/fetch').then(() => results.push('fetch'), () => {});
		for (const [name, key] of [['img', 'src'], ['script', 'src'], ['iframe', 'src'], ['link', 'href']]) {
			try {
				const e = document.createElement(name);
				if (name === 'link') e.rel = 'stylesheet';
				e[key] = address + '/' + name;
				await new Promise(done => { e.onload = () => { results.push(name); done(); }; e.onerror = done;
					if (name === 'iframe') setTimeout(done, 300); document.body.append(e); });
			} catch (e) {}
		}
		try { document.body.innerHTML = '<p id=parsed>'; results.push('innerHTML'); } catch (e) {}
		try { eval('1'); results.push('eval'); } catch (e) {}
		return results;
	})()`, other.URL), chromedp.EvalAwaitPromise, func(e *runtime.EvaluateParams) {
		no := false
		e.AllowUnsafeEvalBlockedByCSP = &no
	}))
	if err != nil {
		t.Fatal(err)
	}
	results = slices.DeleteFunc(results, func(s string) bool { return s == "iframe" }) // an error page is loaded, too
	if len(results) > 0 {
		t.Errorf("the page allows %v", results)
	}
	select {
	case path := <-asked:
		t.Errorf("the page asked another server for %s", path)
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = nil // the policy reports each attempt
	p.requests = slices.DeleteFunc(p.requests, func(r string) bool {
		return strings.HasPrefix(r, other.URL) || strings.HasPrefix(r, "data:") // pictures of the browser's error page
	})
}

// followsLiveRun reads one fire while others are written.
func followsLiveRun(t *testing.T, p *tab) {
	for i := range int64(60) {
		p.write(event(i+1, "a", "BeforeSend"))
	}
	p.open()
	p.until(`document.querySelectorAll('.fires .row').length === 60`)
	p.click(".fires > li:nth-child(5) > .row")
	p.until(`document.querySelector('.detail')`)
	p.run(`document.querySelector('main').scrollTop = 100`)
	place := `document.querySelector('.detail').getBoundingClientRect().top`
	before := get[float64](p, place)
	p.write(event(61, "a", "AfterSend", denied), event(62, "a/b", "OnRunStart", below("a")))
	p.until(`document.querySelectorAll('main > :last-child > .fires > li').length === 62`)
	p.want(".fires", "AfterSend\nRefuse", "Run a/b")
	if after := get[float64](p, place); math.Abs(before-after) > 2 {
		t.Errorf("the fire moved from %v to %v", before, after)
	}
	if !get[bool](p, `document.activeElement === document.querySelector('.fires > li:nth-child(5) > .row') &&
		document.querySelectorAll('.detail').length === 1`) {
		t.Error("the reader's place is lost")
	}
	p.until(`document.getElementById('news').innerText.startsWith('2 new fires')`)
	p.want("#list", "62 fires\n1 exit")
	p.want("main .meta", "62 fires")
	p.click("#news")
	p.until(`document.getElementById('news').hidden`)
	p.write(event(63, "a/b", "OnRunEnd", below("a")))
	p.until(`document.querySelectorAll('.fires .fires .row').length === 2`)
}

// listsNewRuns reads the list of runs while others begin.
func listsNewRuns(t *testing.T, p *tab) {
	for i := range int64(40) {
		p.write(event(i+1, fmt.Sprintf("run%d", i), "BeforeSend"))
	}
	p.open()
	p.run(`document.querySelector('nav').scrollTop = 400`)
	place := `document.querySelector('#list li:nth-last-child(20)').getBoundingClientRect().top`
	before := get[float64](p, place)
	p.write(event(41, "fresh", "BeforeSend"), event(42, "fresher", "BeforeSend"))
	p.until(`document.querySelectorAll('#list li').length === 42`)
	if after := get[float64](p, place); math.Abs(before-after) > 2 {
		t.Errorf("the list moved from %v to %v", before, after)
	}
	if got := p.text("#list li:first-child .title"); got != "Run fresher" {
		t.Errorf("the first run is %q", got)
	}
	p.until(`document.getElementById('live').innerText.includes('2 new runs')`)
	var many []hooklog.Event
	for i := range int64(120) {
		many = append(many, event(43+i, fmt.Sprintf("many%d", i), "BeforeSend"))
	}
	p.write(many...)
	p.until(`document.querySelector('#list .title').innerText === 'Run many119'`)
	p.until(`document.getElementById('list-more').hidden || (document.getElementById('list-more').click(), false)`)
	p.until(`document.querySelectorAll('#list li').length === 162`)
	var numbers []int
	for _, title := range strings.Split(p.text("#list .title"), "\n") {
		if number, ok := strings.CutPrefix(title, "Run many"); ok {
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, -n)
		}
	}
	if len(numbers) != 120 || !slices.IsSorted(numbers) {
		t.Errorf("the new runs are %v", numbers)
	}
}

func readsShorterFile(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"), event(2, "b", "BeforeSend"))
	p.open()
	if err := os.Truncate(p.record, 0); err != nil {
		t.Fatal(err)
	}
	p.until(`!document.getElementById('problems').hidden`)
	p.write(event(1, "c", "BeforeSend"))
	p.until(`document.querySelector('#list').innerText.includes('Run c')`)
	p.want("#problems", "1 remark about the record")
	if got := p.text("#list .title"); got != "Run c" {
		t.Errorf("the runs are %q", got)
	}
}

// TestServerRefusesOthers checks the server that hooklog starts, without a browser.
func TestServerRefusesOthers(t *testing.T) {
	hooklog := build(t)
	record := filepath.Join(t.TempDir(), "run.jsonl")
	(&tab{t: t, ctx: t.Context(), record: record}).write(event(1, "a", "BeforeSend"))
	address, err := url.Parse(serve(t, hooklog, record))
	if err != nil {
		t.Fatal(err)
	}
	if host, _, err := net.SplitHostPort(address.Host); err != nil || host != "127.0.0.1" {
		t.Errorf("the address is %s", address)
	}
	reply, err := http.Get("http://" + address.Host + "/api/runs")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusForbidden {
		t.Errorf("a request without the token got %s", reply.Status)
	}
}
