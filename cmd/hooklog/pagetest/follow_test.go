package pagetest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

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
	p.watch(`document.querySelector('.detail')`)
	p.write(event(61, "a", "AfterSend", denied), event(62, "a/b", "OnRunStart", below("a")))
	p.until(`document.querySelectorAll('main > :last-child > .fires > li').length === 62`)
	p.want(".fires", "AfterSend\nRefuse", "Run a/b")
	p.until(`document.getElementById('news').innerText.startsWith('2 new fires')`)
	p.want("#list", "62 fires\n1 exit")
	p.want("main .meta", "62 fires", "last: Refuse")
	p.until(`document.querySelector('.lane[aria-label^="Run a/b"]')`)
	p.keptPlace()
	if !get[bool](p, `document.activeElement === document.querySelector('.fires > li:nth-child(5) > .row') &&
		document.querySelectorAll('.detail').length === 1`) {
		t.Error("the reader's place is lost")
	}
	p.click("#news")
	p.until(`document.getElementById('news').hidden`)
	p.write(event(63, "a/b", "OnRunEnd", below("a")))
	p.until(`document.querySelectorAll('.fires .fires .row').length === 2`)
}

// watch notes where an element is, now and after each change of the page.
func (p *tab) watch(element string) {
	p.t.Helper()
	p.run(`const note = () => places.push(%s.getBoundingClientRect().top);
		window.places = [];
		note();
		window.watching = new MutationObserver(note);
		watching.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true})`, element)
}

// keptPlace reports an element that was watched and has moved by more than two pixels.
func (p *tab) keptPlace() {
	p.t.Helper()
	p.run(`watching.disconnect()`)
	places := get[[]float64](p, `places`)
	if len(places) < 2 || slices.Max(places)-slices.Min(places) > 2 {
		p.t.Errorf("the places of the element are %v", places)
	}
}

// listsNewRuns reads the list of runs while others begin.
func listsNewRuns(t *testing.T, p *tab) {
	for i := range int64(40) {
		p.write(event(i+1, fmt.Sprintf("run%d", i), "BeforeSend"))
	}
	p.open()
	p.run(`document.querySelector('nav').scrollTop = 400`)
	p.watch(`[...document.querySelectorAll('#list li')].find(e => e.innerText.startsWith('Run run19'))`)
	p.write(event(41, "fresh", "BeforeSend"), event(42, "fresher", "BeforeSend"))
	p.until(`document.querySelectorAll('#list li').length === 42`)
	p.keptPlace()
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
	p.want("main h2", "Run c") // it is the first one now
	if got := p.text("#list .title"); got != "Run c" {
		t.Errorf("the runs are %q", got)
	}
}
