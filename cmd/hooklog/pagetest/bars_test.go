package pagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// bars returns the names of the bars of the page.
func (p *tab) bars() string {
	p.t.Helper()
	return get[string](p, `[...document.querySelectorAll('.bar-of')].map(l => l.ariaLabel).join('\n')`)
}

func about(id string) eventChange {
	return func(e *hooklog.Event) { e.Payload = json.RawMessage(`{"id":"` + id + `"}`) }
}

// pairsSteps draws the steps of acts of which some were refused, and of some that ended in another order.
func pairsSteps(t *testing.T, p *tab) {
	within := func(id string) eventChange {
		return func(e *hooklog.Event) { e.Payload = json.RawMessage(`{"mail":{"id":"` + id + `"}}`) }
	}
	broken := func(e *hooklog.Event) { e.Error = "the hooks failed" }
	p.write(
		event(1, "a", "BeforeSend", denied), event(2, "a", "BeforeSend", broken), event(3, "a", "BeforeSend"),
		event(8, "a", "AfterSend"), // 5 s
		event(10, "a", "BeforeRead", about("1")), event(11, "a", "BeforeRead", about("2")),
		event(12, "a", "BeforeRead", about("lost")), event(13, "a", "AfterRead", within("2")), // 2 s
		event(19, "a", "AfterRead", within("1")), // 9 s
		event(20, "a", "AfterRead", within("other")))
	p.open()
	p.until(`document.querySelector('.bar-of.step')`)
	var steps []string
	for _, bar := range strings.Split(p.bars(), "\n") {
		if strings.HasPrefix(bar, "Steps: ") {
			steps = append(steps, bar)
		}
	}
	want := "Steps: Send, 5.0 s, at +2.0 s; Steps: Read, 9.0 s, at +9.0 s; Steps: Read, 2.0 s, at +10.0 s"
	if got := strings.Join(steps, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// showsMoreBars opens a run with more fires and more runs below it than a chart shows at first.
func showsMoreBars(t *testing.T, p *tab) {
	var events []hooklog.Event
	add := func(run string, fires int, changes ...eventChange) {
		for range fires {
			e := event(int64(len(events)+1), run, "OnTurn", changes...)
			e.Time = time.Date(2026, 1, 2, 3, 4, 0, 10_000_000*len(events), time.UTC)
			events = append(events, e)
		}
	}
	add("a", 100)
	for n := range 25 {
		add(fmt.Sprint("child", n), 10, below("a"))
	}
	add("a", 300)
	add("last", 700, below("a"), denied)
	add("a", 10)
	p.write(events...)
	p.open()
	p.do(until(`document.querySelector('.chart .note')`))
	p.want(".chart .note", "Hooks: 150 of 410 bars", "20 of 26 runs below it", "610 of 1,360 fires")
	p.click(".chart .note button")
	p.until(`document.querySelectorAll('.lane').length === 27`)
	p.want(".chart .note", "Hooks: 300 of 410 bars", "Run last: 300 of 700 bars")
	if note := p.text(".chart .note"); strings.Contains(note, "runs below it") || strings.Contains(note, "fires") {
		t.Errorf("the chart is whole, and says %s", note)
	}
	p.until(`document.activeElement === document.querySelector('.chart .note button')`)
	p.keys("Enter")
	p.want(".chart .note", "Run last: 450 of 700 bars")
	p.keys("Enter")
	p.want(".chart .note", "Run last: 600 of 700 bars")
	p.keys("Enter")
	p.until(`!document.querySelector('.chart .note')`)
	if n := get[int](p, `document.querySelectorAll('.bar-of').length`); n != 410+26+700 {
		t.Errorf("%d bars are shown", n)
	}
}
