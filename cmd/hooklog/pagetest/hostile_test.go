package pagetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

const hostile = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>" +
	"<!-- {{data}} \u2028 user\u202Etxt.exe \u200Bhidden\u0000 \U000E0041 &amp; \\u003cb\\u003e"

func showsHostileTexts(t *testing.T, p *tab) {
	e := event(1, hostile, hostile, payload(hostile), failed)
	e.Decision, e.By, e.Site, e.Reason, e.Error, e.Spec = hostile, hostile, hostile, hostile, hostile, hostile
	e.Run.Labels = map[string]string{hostile: hostile}
	e.Ballots = []hooklog.Ballot{{By: hostile, Site: hostile, Decision: hostile, Reason: hostile, Value: e.Payload}}
	e.Failures = []hooklog.Failure{{By: hostile, Site: hostile, Cause: hostile}}
	e.Slow = []hooklog.SlowHook{{By: hostile, Site: hostile, Elapsed: time.Second}}
	e.Value, e.Collected, e.Final = e.Payload, e.Payload, json.RawMessage(`{"`+`\u003cb\u003e`+`":"`+`\u202E`+`"}`)
	e.Payload = json.RawMessage(strings.Replace(string(e.Payload), `"Text"`, `"task"`, 1))
	p.write(e)
	p.open()
	p.click(".fires .row")
	p.until(`document.querySelector('.detail')`)
	p.want("main h2", "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>",
		"U+202Etxt.exe", "U+200Bhidden", "U+E0041", "&amp; \\u003cb\\u003e")
	p.want(".detail", "U+202Etxt.exe", "<b>", "U+2028")
	p.choose("what", "fires")
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
