package pagetest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

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
