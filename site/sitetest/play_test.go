package sitetest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	verdict = `document.querySelector('.play .verdict').innerText`
	notes   = `(document.querySelector('.play .notes')?.innerText ?? '')`
)

func TestPlaygroundAnswersAsOneTypes(t *testing.T) {
	p := open(t, "/playground.html")
	p.until(`document.querySelector('.play .result').innerText.includes('type Hooks struct')`)
	t.Logf("the API came %s ms after the address was opened", p.value("Math.round(performance.now())"))
	p.until(`%s.includes('the hook compiles')`, verdict)
	t.Logf("the hook was checked after %s ms", p.value("Math.round(performance.now())"))

	// Without network, the page continues to work.
	p.server.Close()
	p.edit(1, "mail.Refuse{Reason", "mail.Receipt{Reason")
	p.until(`%s.includes('hook.go:') && %[1]s.includes('mail.Receipt')`, notes)
	p.edit(1, "mail.Receipt{Reason", "mail.Refuse{Reason")
	p.until(`%s.includes('accepted')`, verdict)
	p.edit(0, "spec.FailClosed)", "spec.FailOpen)")
	p.until(`document.querySelectorAll('.play [role=tab]')[2].innerText.includes('1 change')`)
	p.edit(0, "spec.FailOpen)", ")")
	p.until(`%s.includes('spec.go:') && document.querySelector('.play .gutter .wrong')`, notes)
}

func TestPlaygroundFitsWindowsOfAnyWidth(t *testing.T) {
	p := open(t, "/playground.html#gateway")
	p.until(`%s.includes('accepted')`, verdict)
	p.until(`document.querySelector('.play textarea').value.includes('package gateway')`)
	if *screenshot != "" {
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*screenshot, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.fits()
}

// TestPagesFitWindowsOfAnyWidth looks at pages with code and wide tables.
func TestPagesFitWindowsOfAnyWidth(t *testing.T) {
	for _, page := range []string{"/", "/gallery.html", "/hooks/comparison.html", "/hooks/getting-started.html"} {
		t.Run(page, func(t *testing.T) { open(t, page).fits() })
	}
}

// fits checks that the page is not wider than windows of some widths.
func (p *tab) fits() {
	p.t.Helper()
	for _, width := range []int64{1600, 390} {
		p.do(chromedp.EmulateViewport(width, 900))
		p.until(`window.innerWidth === %d && document.documentElement.scrollWidth <= %[1]d`, width)
	}
}

// TestPlaygroundWorksByKeyboardAlone goes through the page with keys. The focused element is visible.
func TestPlaygroundWorksByKeyboardAlone(t *testing.T) {
	p := open(t, "/playground.html")
	p.until(`%s.includes('accepted')`, verdict)
	focused := func(element string) {
		t.Helper()
		p.until(`document.activeElement === %s`, element)
		if p.value(`getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Errorf("%s does not show that it has the focus", element)
		}
	}
	const editors, tabs = `document.querySelectorAll('.play textarea')`, `document.querySelectorAll('.play [role=tab]')`
	for n := 0; p.value(`document.activeElement.matches('.play select')`) != "true"; n++ {
		if p.keys("Tab"); n == 50 {
			t.Fatal("Tab does not lead to the list of programs")
		}
	}
	focused(`document.querySelector('.play select')`)
	p.keys("Tab")
	focused(editors + "[0]")
	p.keys("x")
	p.until(`%s.includes('spec.go:1')`, notes)
	p.keys("Backspace", "Tab")
	p.until(`%s[0].value.startsWith('\t//')`, editors)
	p.keys("Backspace", "Escape", "Tab")
	focused(editors + "[1]")
	p.until(`%s.includes('the hook compiles')`, verdict)
	p.keys("Escape", "Tab")
	focused(tabs + "[0]")
	p.keys("ArrowRight")
	focused(tabs + "[1]")
	p.until(`document.querySelector('.play .result').innerText.includes('# Points of mail')`)
	p.keys("ArrowRight", "ArrowRight", "Tab")
	focused(`document.querySelector('.play .result')`)
	p.until(`document.activeElement.innerText.includes('type Hooks struct')`)
}

// TestPlaygroundAnswersWhoNeverStops types without a pause, and pastes a spec of 5 MB.
func TestPlaygroundAnswersWhoNeverStops(t *testing.T) {
	p := open(t, "/playground.html")
	p.until(`%s.includes('accepted')`, verdict)
	p.until(`(() => {
		const box = document.querySelectorAll('.play textarea')[0];
		let letters = 0;
		box.value += 'wrong\n';
		window.typing = setInterval(() => {
			box.value += '// ' + ++letters + '\n';
			box.dispatchEvent(new Event('input'));
		}, 20);
		return true;
	})()`)
	p.until(`%s.includes('spec.go:')`, notes) // while it types
	p.until(`(clearInterval(window.typing), true)`)
	p.edit(0, "wrong", "// x")
	p.until(`%s.includes('accepted')`, verdict)
	p.until(`(() => {
		const box = document.querySelectorAll('.play textarea')[0];
		box.value += ('// ' + 'x'.repeat(100) + '\n').repeat(52_000);
		box.dispatchEvent(new Event('input'));
		return true;
	})()`)
	p.until(`%s.includes('(size)')`, notes)
}

// TestPlaygroundOutlivesTextsThatAreTooMuch types during the start, and then, without a network, a hook whose check
// would take for ever, and one that is nested too deeply for the stack of the browser.
func TestPlaygroundOutlivesTextsThatAreTooMuch(t *testing.T) {
	p := open(t, "/playground.html")
	change := func(expression string) {
		t.Helper()
		p.until(`(() => {
			const box = document.querySelectorAll('.play textarea')[1];
			if (!box) return false;
			window.good ??= box.value;
			box.value = window.good + %s;
			box.dispatchEvent(new Event('input'));
			return true;
		})()`, expression)
	}
	for n := range 50 {
		change(fmt.Sprintf(`'// %d'`, n))
	}
	p.until(`%s.includes('the hook compiles')`, verdict)
	p.server.Close()
	const endless = `'\ntype A0 struct{}\n' +
		Array.from({length: 60}, (_, i) => 'type A' + (i + 1) + ' struct{ a, b A' + i + ' }\n').join('')`
	change(endless)
	p.until(`%s.includes('stopped a check after 30 seconds')`, verdict)
	change(`''`)
	p.until(`%s.includes('the hook compiles')`, verdict)
	for _, nested := range []string{`'\nvar x = ' + '('.repeat(50000)`, `'\nvar x ' + '[]'.repeat(50000) + 'int'`} {
		change(nested)
		p.until(`%s.includes('The playground cannot check this text')`, verdict)
	}
	change(`''`)
	p.until(`%s.includes('the hook compiles')`, verdict)

	// Other programs, while a check takes for ever.
	change(endless)
	p.until(`Date.now() - (window.typed ??= Date.now()) > 500`) // it is checked by then
	for _, name := range []string{"gateway", "mail"} {
		p.until(`(location.hash = %q, true)`, name)
		p.until(`document.querySelector('.play .result').innerText.includes('package %s')`, name)
		p.until(`%s.includes('the hook compiles')`, verdict)
	}
}

// TestGalleryOpensPrograms goes back and forth between the gallery and the playground.
func TestGalleryOpensPrograms(t *testing.T) {
	p := open(t, "/gallery.html")
	for _, name := range []string{"mail", "gateway", "deployment", "editor", "agent"} {
		p.until(`document.querySelector('a[href$="playground.html#%s"]')`, name)
		p.until(`(document.querySelector('a[href$="playground.html#%s"]').click(), true)`, name)
		p.until(`document.querySelector('.play select')?.value === %q`, name)
		if name != "gateway" { // which is left before it is answered
			p.until(`document.querySelector('.play .verdict').innerText.includes('the hook compiles')`)
		}
		p.until(`(history.back(), true)`)
	}
}

// TestPlaygroundLoadsAgain opens the playground at a server that refuses each of its files at first.
func TestPlaygroundLoadsAgain(t *testing.T) {
	files := http.FileServer(http.Dir(dist))
	var served sync.Map // the files that the server does not refuse any more
	p := openAt(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := served.Load(filepath.Base(r.URL.Path)); !ok && filepath.Ext(r.URL.Path) == ".bin" {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		files.ServeHTTP(w, r)
	}), "/playground.html")
	p.until(`%s.includes('cannot load program.bin: the server answers 503')`, verdict)
	served.Store("program.bin", true)
	p.until(`document.querySelector('.play .result').innerText.includes('type Hooks struct')`)
	p.until(`%s.includes('cannot load packages.bin: the server answers 503')`, verdict)
	p.edit(0, "type Refuse struct", "type Rejection struct")
	p.until(`%s.includes('Refuse')`, notes)
	p.edit(0, "type Rejection struct", "type Refuse struct")
	p.until(`%s.includes('cannot load packages.bin')`, verdict)
	served.Store("packages.bin", true)
	p.until(`%s.includes('the hook compiles')`, verdict)
	p.forgive(`status of 503`)
}

// TestPlaygroundIsSmall adds the bytes that the page loads from a server that compresses nothing.
func TestPlaygroundIsSmall(t *testing.T) {
	p := open(t, "/playground.html")
	p.until(`%s.includes('the hook compiles')`, verdict)
	size, err := strconv.Atoi(p.value(`performance.getEntries().reduce((sum, e) => sum + (e.transferSize ?? 0), 0)`))
	t.Logf("%.1f MB transferred", float64(size)/1e6)
	if err != nil || size < 1_000_000 || size > 12_000_000 {
		t.Errorf("%d bytes transferred, %v", size, err)
	}
}
