package pagetest

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

func opensRun(t *testing.T, p *tab) {
	p.write(event(1, "older", "BeforeSend"), event(2, "newer", "BeforeSend"), event(3, "newer", "AfterSend", denied,
		keyed), event(4, "newer", "OnClose", failed))
	p.open()
	p.want("#list", "Run newer\nlast: failed\n3 fires\n1 exit\n1 failure\n2.0 s", "Run older\n1 fire")
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
		"the-key", "number 3, run.jsonl:3", `"Reason": "not to strangers"`, `"To": "you",`)
	p.click(".fires > li:nth-child(3) > button")
	p.until(`document.querySelectorAll('.detail').length === 2`)
	p.want(".fires > li:nth-child(3) .detail", "broken.Hook broken.go:3", "out of paper",
		"slow.Hook slow.go:4")
	bar := get[string](p, `(() => {
		const track = document.querySelector('.took'), bar = getComputedStyle(track, '::after');
		return [bar.left, bar.width].map(w => parseFloat(w) / track.clientWidth).join(' ');
	})()`)
	if bar != "0.25 0.5" {
		t.Errorf("the bar of the slow hook begins and lasts %s of the fire", bar)
	}
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
