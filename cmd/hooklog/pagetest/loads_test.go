package pagetest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// opensAddresses opens addresses of runs and fires, also of those that are not in the record.
func opensAddresses(t *testing.T, p *tab) {
	p.write(event(7, "older", "BeforeSend"), event(7, "a", "BeforeSend"), event(9, "a", "AfterSend", payload("ninth")))
	p.open()
	show := func(hash, until string) {
		t.Helper()
		p.do(chromedp.Navigate(p.base()+hash), chromedp.Reload())
		p.until("%s", until)
	}
	show("#run=a&fire=9&time=2026-01-02T03%3A04%3A09Z", `document.querySelector('.detail')?.innerText.includes('ninth')`)
	if n := get[int](p, `document.querySelectorAll('.detail').length`); n != 1 {
		t.Errorf("%d fires are open", n)
	}
	for _, missing := range []string{"#run=a&fire=8", "#run=a&fire=9&time=2025-01-02T03%3A04%3A09Z"} {
		show(missing, `document.querySelector('main .bad')?.innerText.startsWith('The record does not have the fire')`)
		p.want("main h2", "Run a")
	}
	p.failing = true // the browser reports the reply about a run that is missing
	show("#run=missing", `document.querySelector('main .bad')?.innerText.endsWith('Try again')`)
	p.run(`location.hash = '#run=older'`) // the page listens
	p.until(`document.querySelector('main h2')?.innerText === 'Run older'`)
	p.click(".fires .row")
	p.until("%s", `location.hash === '#run=older&fire=7&time=2026-01-02T03%3A04%3A07Z'`)
}

// triesAgain loads parts of the page while its source fails, and then again.
func triesAgain(t *testing.T, p *tab) {
	p.openAgent()
	p.run(`window.whole = {...source};
		window.breaks = name => { source[name] = async () => { throw new Error('out of reach'); }; };
		window.mend = () => Object.assign(source, whole)`)
	again := func(place string) {
		t.Helper()
		p.want(place, "out of reach")
		p.run(`mend()`)
		p.click(place + " .bad button")
	}
	p.run(`breaks('items')`)
	p.click("#list li:last-child button")
	again("main")
	p.until(`document.querySelector('main h2')?.innerText === 'How many packages were built?' &&
		document.querySelector('.bar-of')`)
	p.run(`breaks('fire')`)
	p.click(".fires .row")
	again(".detail")
	p.want(".detail", "continue")
	p.run(`breaks('items')`)
	p.do(chromedp.Click(`//button[.='Conversation']`))
	again("main > :last-child")
	p.until(`document.querySelector('.talk .turn.end')`)
	p.run(`breaks('numbers')`)
	p.click("#numbers")
	again("main")
	p.until(`document.querySelectorAll('main table').length === 4`)
	p.run(`breaks('runs')`)
	p.choose("order", "cost")
	again("#list")
	p.until(`document.querySelectorAll('#list [data-row]').length === 4`)
	p.run(`breaks('fire')`)
	p.do(chromedp.Navigate(p.base()+"#run=5c1e&with=77ab"), chromedp.Reload())
	p.until(`document.querySelector('.pair')`)
	p.run(`source.fire = (original => async n => {
		source.fire = original;
		throw new Error('out of reach');
	})(source.fire)`)
	p.click(".pair .row")
	p.want(".pair .detail", "out of reach")
	p.click(".pair .bad button")
	p.until(`document.querySelector('.pair .removed')`)
}

// findsRestartedServer opens a fire. Then its server ends, and another one serves a record in which it has another
// number.
func findsRestartedServer(t *testing.T, browser context.Context, hooklog string) {
	token := filepath.Join(t.TempDir(), "token")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"-addr", listener.Addr().String(), "-token", token}
	err = os.WriteFile(token, []byte("a-token-that-nobody-guesses"), 0o600)
	if err := errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	var end func()
	p := openTab(t, browser, hooklog, func(t *testing.T, hooklog string, args ...string) (address string) {
		address, end = start(t, hooklog, args...)
		return address
	}, flags...)
	fifth, sixth := event(5, "a", "BeforeSend", payload("fifth")), event(6, "a", "BeforeSend")
	p.write(fifth, sixth)
	p.open()
	p.click(".fires .row")
	p.until(`document.querySelector('.detail')?.innerText.includes('fifth')`)
	p.failing = true
	end()
	if err := os.Remove(p.record); err != nil {
		t.Fatal(err)
	}
	p.write(event(1, "first", "BeforeSend"), fifth, sixth, event(7, "a", "BeforeSend"))
	serve(t, hooklog, append(flags, p.record)...)
	p.until(`document.querySelectorAll('#list [data-row]').length === 2`)
	p.until(`document.querySelector('main h2')?.innerText === 'Run a' &&
		document.querySelector('.detail')?.innerText.includes('fifth') &&
		document.querySelectorAll('.fires .row').length === 3`)
}
